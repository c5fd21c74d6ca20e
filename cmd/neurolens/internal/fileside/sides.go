package fileside

import (
	"context"
	"os"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
)

// Opener opens the stores that a comparison is asked of.
type Opener struct {
	Stores  []string               // of the user
	Writer  string                 // names the version of this program in private stores
	Private func() (string, error) // gives a private folder that somebody removes later
	Remark  func(text string)      // is told what people should know of a file
	Open    func(ctx context.Context, stores []string) (*query.DB, error)
}

// Query calls do with the stores that hold HEAD, or both sides. Of a side that is a file the request has what is left of its text,
// a filter, and its name; its store is gone afterwards. refused makes the error of a file that makes no sense.
func (o Opener) Query(ctx context.Context, req *compare.Request, refused func(error) error, do func(db *query.DB) error) error {
	base, err := o.side(ctx, &req.Base, &req.BaseFile, refused)
	if err != nil {
		return err
	}
	defer closed(base)
	head, err := o.side(ctx, &req.Head, &req.HeadFile, refused)
	if err != nil {
		return err
	}
	defer closed(head)
	switch {
	case base != nil && head != nil:
		req.BaseDB = base
		return do(head)
	case base != nil && req.Head == "": // both sides are in it
		return do(base)
	}
	db, err := o.Open(ctx, o.Stores)
	if err != nil {
		return err
	}
	defer closed(db)
	if head != nil {
		req.BaseDB = db
		return do(head)
	}
	req.BaseDB = base
	return do(db)
}

// Base calls do with the stores of the user and, where the base is a file, with the store of its runs and what is left of its text.
func (o Opener) Base(ctx context.Context, base string, refused func(error) error, do func(db, base *query.DB, filter string) error) error {
	var name string
	file, err := o.side(ctx, &base, &name, refused)
	if err != nil {
		return err
	}
	defer closed(file)
	db, err := o.Open(ctx, o.Stores)
	if err != nil {
		return err
	}
	defer closed(db)
	return do(db, file, base)
}

// side reads the file that a side is; nil where it is none.
func (o Opener) side(ctx context.Context, side, name *string, refused func(error) error) (*query.DB, error) {
	file, is, err := parse(*side)
	if err != nil {
		return nil, refused(err)
	}
	if !is {
		return nil, nil
	}
	private, err := o.Private()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(private, "side-")
	if err != nil {
		return nil, err
	}
	store, notes, err := file.read(ctx, dir, o.Writer)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, refused(err)
	}
	for _, note := range notes {
		o.Remark(note)
	}
	*side, *name = file.Filter, *side
	return o.Open(ctx, []string{store})
}

// closed lets go of stores whose answer is there.
func closed(db *query.DB) {
	if db != nil {
		_ = db.Close() // in memory: there is nothing to lose
	}
}

package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/neurolens/neurolens/ingest/table"
	"github.com/neurolens/neurolens/schema"
)

// Compacted counts what a compact store has.
type Compacted struct {
	Runs    int
	Removed int // runs that were left out
	Files   int // sealed files, one a month
	Events  int
}

// Compact makes a store in a directory that is empty or not there, of the runs of another store that are not removed:
// one sealed file for each month in which runs started, every run once, with the digest that it has. The other store is
// only read. Events are kept that say something about a run that is there, that name a baseline, or that remove a run:
// merged with an older copy, the new store does not show it again. Memory is bounded.
//
// The header is written last: what an interrupted Compact leaves is no store. A file or a run that is damaged ends it.
// The version is that of the program.
func Compact(ctx context.Context, from, into, version string) (Compacted, error) {
	fail := func(err error) (Compacted, error) {
		return Compacted{}, fmt.Errorf("compacting store %s into %s: %w", from, into, err)
	}
	source, err := newOSFiles(from)
	if err != nil {
		return fail(err)
	}
	target, err := newOSFiles(into)
	if err != nil {
		return fail(err)
	}
	if _, err := schema.ReadHeader(source); err != nil {
		return fail(err)
	}
	if within(string(target.Dir), string(source.Dir)) {
		return fail(errors.New("the new directory is inside the store"))
	}
	c := &compacter{from: source, into: target, version: version, memory: compactMemory}
	if err := c.all(ctx); err != nil {
		return fail(err)
	}
	return c.done, nil
}

// within tells whether a directory, which may not be there yet, is another one or inside of it.
func within(dir, other string) bool {
	outer, err := os.Stat(other)
	for err == nil {
		if inner, err := os.Stat(dir); err == nil && os.SameFile(inner, outer) {
			return true
		}
		if filepath.Dir(dir) == dir {
			return false
		}
		dir = filepath.Dir(dir)
	}
	return false
}

// compactMemory is what the files that are read at a time take in memory, about; each stands for those of three tables.
const compactMemory = 32 << 20

// compacter makes one compact store.
type compacter struct {
	from    fs.FS
	into    files
	version string
	memory  int
	done    Compacted
	removed map[string]bool
	temps   []string
	set     *runSet // of the month; nil between months
}

func (c *compacter) all(ctx context.Context) error {
	if err := c.begin(); err != nil {
		return err
	}
	defer func() { removeAll(c.into, c.temps) }()
	listing, inputs, err := c.list(ctx)
	if err != nil {
		return err
	}
	events, err := readEvents(c.from, listing.Events)
	if err != nil {
		return err
	}
	c.removed = schema.Annotate(events).Removed
	if inputs, err = c.narrow(ctx, inputs); err != nil {
		return err
	}
	runs := mergeRuns(readersOf(inputs))
	defer runs.close()
	if err := c.months(ctx, runs); err != nil {
		return err
	}
	if err := c.copyRest(ctx, events); err != nil {
		return err
	}
	return c.end()
}

// begin makes the directory.
func (c *compacter) begin() error {
	if err := c.into.makeRoot(); err != nil {
		return err
	}
	entries, err := fs.ReadDir(c.into, ".")
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("the new directory is not empty (it has %s); what a compact that was cut short left may be removed", entries[0].Name())
	}
	return makeDirs(c.into, schema.TmpDir)
}

// end makes a store of the directory.
func (c *compacter) end() error {
	now := time.Now().UTC()
	header, err := schema.Header{Format: schema.Format, StoreID: schema.NewULID(now).String(), Created: now}.Encode()
	if err != nil {
		return err
	}
	if err := publish(c.into, schema.HeaderFile, header); err != nil {
		return err
	}
	if err := ignoreAll(c.into); err != nil {
		return err
	}
	return syncDir(c.into, ".")
}

// list lists the store, and copies its live runs into a temporary file: sealers may move them at any moment.
func (c *compacter) list(ctx context.Context) (*schema.Listing, []runInputFile, error) {
	var listing *schema.Listing
	err := errMoved
	for attempt := 0; errors.Is(err, errMoved) && attempt < moves; attempt++ {
		if listing, err = schema.List(c.from, schema.Scope{}); err != nil {
			return nil, nil, err
		}
		var live []runInputFile
		if live, err = c.copyLive(ctx, listing.Live); err == nil {
			for _, f := range listing.Sealed {
				live = append(live, runInputFile{c.from, f, zoneName(f)})
			}
			return listing, live, nil
		}
	}
	return nil, nil, err
}

func (c *compacter) copyLive(ctx context.Context, files []schema.LiveFile) ([]runInputFile, error) {
	if len(files) == 0 {
		return nil, nil
	}
	ascending := slices.Clone(files)
	slices.SortFunc(ascending, func(a, b schema.LiveFile) int { return compareULIDs(a.Run, b.Run) })
	input, err := c.temporary(ctx, &liveRuns{c.from, ascending})
	return []runInputFile{input}, moved(err)
}

// temporary writes runs into temporary files.
func (c *compacter) temporary(ctx context.Context, runs runReader) (runInputFile, error) {
	defer runs.close()
	set, err := newRunSet(c.into, c.version)
	if err != nil {
		return runInputFile{}, err
	}
	c.temps = append(c.temps, set.names()...)
	if err := eachRun(ctx, runs, set.write); err != nil {
		set.remove()
		return runInputFile{}, err
	}
	if err := set.finish(); err != nil {
		return runInputFile{}, err
	}
	return runInputFile{c.into, set.sealedFile(schema.ULID{}), set.name}, nil
}

// narrow merges files into temporary ones until not too many are to be read at a time.
func (c *compacter) narrow(ctx context.Context, inputs []runInputFile) ([]runInputFile, error) {
	for {
		slices.SortFunc(inputs, func(a, b runInputFile) int {
			return cmp.Or(cmp.Compare(a.sealed.First, b.sealed.First), compareULIDs(a.sealed.ID, b.sealed.ID))
		})
		sizes := make([]packInput, len(inputs))
		for i, in := range inputs {
			sizes[i].file = in.sealed
		}
		if overlapping(sizes) <= c.memory || len(inputs) < 2 {
			return inputs, nil
		}
		var next []runInputFile
		for _, batch := range batches(sizes, c.memory) {
			merged, err := c.temporary(ctx, mergeRuns(readersOf(inputs[:len(batch)])))
			if err != nil {
				return nil, err
			}
			next, inputs = append(next, merged), inputs[len(batch):]
		}
		inputs = next
	}
}

// months writes the sealed files.
func (c *compacter) months(ctx context.Context, runs runReader) error {
	month := ""
	err := eachRun(ctx, runs, func(live *table.Live) error {
		if c.removed[live.RunID] {
			c.done.Removed++
			return nil
		}
		id, err := schema.ParseULID(live.RunID)
		if err != nil {
			return err
		}
		if m := schema.MonthOf(id.Time()); m != month {
			if err := c.endMonth(); err != nil {
				return err
			}
			month = m
		}
		if c.set == nil {
			if c.set, err = newRunSet(c.into, c.version); err != nil {
				return err
			}
		}
		c.done.Runs++
		return c.set.write(live)
	})
	if err == nil {
		err = c.endMonth()
	}
	if c.set != nil {
		c.set.remove()
	}
	return err
}

// endMonth gives the files of a month their names. Their id has the time of the last run, so that they stand in the
// folder of the month.
func (c *compacter) endMonth() error {
	if c.set == nil {
		return nil
	}
	if err := c.set.finish(); err != nil {
		return err
	}
	if err := c.set.publish(c.set.sealedFile(schema.NewULID(c.set.last.Time()))); err != nil {
		return err
	}
	c.set.remove()
	c.set = nil
	c.done.Files++
	return nil
}

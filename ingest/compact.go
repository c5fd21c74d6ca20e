package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/table"
	"github.com/neurolens/neurolens/schema"
)

// Loss counts what damage takes.
type Loss = runfile.Loss

// Compacted counts what a compact store has.
type Compacted struct {
	Runs    int
	Removed int // runs that were left out
	Files   int // sealed files, one a month
	Events  int
	Loss    Loss // what damage of the other store takes
}

// Compact makes a store in a directory that is empty or not there, of the runs of another store that are not removed:
// one sealed file for each month in which runs started, every run once, with the digest that it has. The other store is
// only read. Events are kept that say something about a run that is there, that name a baseline, or that remove a run:
// merged with an older copy, the new store does not show it again. Memory is bounded.
//
// What is damaged is handed to damaged and left out: what Repair would keep of it is there, and marked alike.
//
// The header is written last: what an interrupted Compact leaves is no store, and the next one begins anew in its place.
// The version is that of the program.
func Compact(ctx context.Context, from, into, version string, damaged func(LeftOut)) (Compacted, error) {
	fail := func(err error) (Compacted, error) {
		return Compacted{}, fmt.Errorf("compacting store %s into %s: %w", from, into, err)
	}
	source, err := disk.NewOS(from)
	if err != nil {
		return fail(err)
	}
	target, err := disk.NewOS(into)
	if err != nil {
		return fail(err)
	}
	if _, err := schema.ReadHeader(source); err != nil {
		return fail(err)
	}
	if within(string(target.Dir), string(source.Dir)) {
		return fail(errors.New("the new directory is inside the store"))
	}
	c := &compacter{from: source, into: target, version: version, memory: compactMemory, damaged: damaged}
	if err := c.all(ctx); err != nil {
		return fail(err)
	}
	return c.done, nil
}

// compactMemory is what the files that are read at a time take in memory, about; each stands for those of three tables.
const compactMemory = 32 << 20

// compacter makes one compact store.
type compacter struct {
	from    fs.FS
	into    disk.Files
	version string
	memory  int
	damaged func(LeftOut)
	done    Compacted
	lost    runfile.Lost               // of the other store, as its events say, and those that are found to be now
	losing  map[*schema.Table][]string // runs that are found to have lost rows now
	removed map[string]bool
	temps   []string
	set     *runfile.RunSet // of the month; nil between months
}

func (c *compacter) all(ctx context.Context) error {
	if err := c.begin(); err != nil {
		return err
	}
	if c.lost = runfile.ReadLost(c.from); c.lost == nil {
		c.lost = runfile.Lost{}
	}
	c.losing = map[*schema.Table][]string{}
	defer func() { disk.RemoveAll(c.into, c.temps) }()
	listing, inputs, err := c.list(ctx)
	if err != nil {
		return err
	}
	events, err := c.readEvents(listing.Events)
	if err != nil {
		return err
	}
	c.removed = schema.Annotate(events).Removed
	if inputs, err = c.narrow(ctx, inputs); err != nil {
		return err
	}
	runs := runfile.Merge(c.readersOf(inputs))
	defer runs.Close()
	if err := c.months(ctx, runs); err != nil {
		return err
	}
	if err := c.copyRest(ctx, events); err != nil {
		return err
	}
	return c.end()
}

// list lists the store, and copies its live runs into a temporary file: sealers may move them at any moment.
func (c *compacter) list(ctx context.Context) (*schema.Listing, []runfile.Input, error) {
	var listing *schema.Listing
	err := runfile.ErrMoved
	for attempt := 0; errors.Is(err, runfile.ErrMoved) && attempt < runfile.MostMoves; attempt++ {
		if listing, err = schema.List(c.from, schema.Scope{}); err != nil {
			return nil, nil, err
		}
		var live []runfile.Input
		if live, err = c.copyLive(ctx, listing.Live); err == nil {
			for _, f := range listing.Sealed {
				live = append(live, runfile.InputOf(c.from, f))
			}
			return listing, live, nil
		}
	}
	return nil, nil, err
}

func (c *compacter) copyLive(ctx context.Context, files []schema.LiveFile) ([]runfile.Input, error) {
	if len(files) == 0 {
		return nil, nil
	}
	ascending := slices.Clone(files)
	slices.SortFunc(ascending, func(a, b schema.LiveFile) int { return a.Run.Compare(b.Run) })
	input, err := c.temporary(ctx, &liveLeft{compacter: c, LiveRuns: &runfile.LiveRuns{FS: c.from, Files: ascending}})
	if err == nil && input.Sealed.Rows == 0 {
		return nil, nil
	}
	return []runfile.Input{input}, runfile.Moved(err)
}

// temporary writes runs into temporary files.
func (c *compacter) temporary(ctx context.Context, runs runfile.Reader) (runfile.Input, error) {
	defer runs.Close()
	set, err := runfile.NewRunSet(c.into, c.version)
	if err != nil {
		return runfile.Input{}, err
	}
	c.temps = append(c.temps, set.Names()...)
	if err := runfile.EachRun(ctx, runs, set.Write); err != nil {
		set.Remove()
		return runfile.Input{}, err
	}
	if err := set.Finish(); err != nil {
		return runfile.Input{}, err
	}
	return runfile.Input{FS: c.into, Sealed: set.SealedFile(schema.ULID{}), Name: set.Name}, nil
}

// narrow merges files into temporary ones until not too many are to be read at a time.
func (c *compacter) narrow(ctx context.Context, inputs []runfile.Input) ([]runfile.Input, error) {
	for {
		slices.SortFunc(inputs, func(a, b runfile.Input) int {
			return cmp.Or(cmp.Compare(a.Sealed.First, b.Sealed.First), a.Sealed.ID.Compare(b.Sealed.ID))
		})
		files := make([]schema.SealedFile, len(inputs))
		for i, in := range inputs {
			files[i] = in.Sealed
		}
		if runfile.Overlapping(files) <= c.memory || len(inputs) < 2 {
			return inputs, nil
		}
		var next []runfile.Input
		for _, length := range runfile.Batches(files, c.memory) {
			merged, err := c.temporary(ctx, runfile.Merge(c.readersOf(inputs[:length])))
			if err != nil {
				return nil, err
			}
			next, inputs = append(next, merged), inputs[length:]
		}
		inputs = next
	}
}

// months writes the sealed files.
func (c *compacter) months(ctx context.Context, runs runfile.Reader) error {
	month := ""
	err := runfile.EachRun(ctx, runs, func(live *table.Live) error {
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
			if c.set, err = runfile.NewRunSet(c.into, c.version); err != nil {
				return err
			}
		}
		c.done.Runs++
		return c.set.Write(live)
	})
	if err == nil {
		err = c.endMonth()
	}
	if c.set != nil {
		c.set.Remove()
	}
	return err
}

// endMonth gives the files of a month their names. Their id has the time of the last run, so that they stand in the
// folder of the month.
func (c *compacter) endMonth() error {
	if c.set == nil {
		return nil
	}
	if err := c.set.Finish(); err != nil {
		return err
	}
	if err := c.set.Publish(c.set.SealedFile(schema.NewULID(c.set.Last.Time()))); err != nil {
		return err
	}
	c.set.Remove()
	c.set = nil
	c.done.Files++
	return nil
}

package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// Loss counts the runs, samples and ops that damage destroyed.
type Loss = runfile.Loss

// Compacted counts the content of a compacted store.
type Compacted struct {
	Runs    int
	Removed int // removed runs, which are left out
	Files   int // sealed files
	Events  int
	Loss    Loss // lost to damage in the source store
	Already bool `json:"-"` // an earlier Compact made it, and the source store has not changed since
}

// ErrInside means that a store would be inside another one.
var ErrInside = errors.New("the new directory is inside the store")

// Compact writes the runs of a store that are not removed into a new store, in a directory that is empty or does not exist. The new
// store has one sealed file for each month in which runs started, and one for its newest runs, and every run once, with its digest. The
// source store is only read. Events are kept if they concern a run of the new store, name a baseline, or remove a run: so a later merge
// with an older copy does not bring removed runs back. Memory is bounded.
//
// Compact calls damaged for each damaged file. It keeps the rows that Repair would keep, and records the loss in the same way.
//
// The header is written last, so an interrupted Compact leaves no store. The next one in its place keeps the finished files, if they are
// complete and the source still has their runs, and makes the others. A complete store stays unchanged. version is the version of the
// program.
func Compact(ctx context.Context, from, into, version string, damaged func(LeftOut)) (Compacted, error) {
	return compact(ctx, from, into, &compacter{version: version, memory: compactMemory, damaged: damaged})
}

// CompactTables is Compact of some sealed files, with all events and also the removed runs, but without artifacts: who restores a run in
// another store has to find it here.
func CompactTables(ctx context.Context, from, into, version string, sealed []schema.SealedFile, damaged func(LeftOut)) (Compacted, error) {
	return compact(ctx, from, into, &compacter{version: version, memory: compactMemory, damaged: damaged, tables: true, sealed: sealed})
}

func compact(ctx context.Context, from, into string, c *compacter) (Compacted, error) {
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
		return fail(ErrInside)
	}
	c.from, c.into = source, target
	if err := target.MakeRoot(); err != nil { // it is the directory that is locked
		return fail(err)
	}
	unlock, err := target.LockRoot()
	if err != nil {
		return fail(err)
	}
	defer unlock()
	if err := c.all(ctx); err != nil {
		return fail(err)
	}
	return c.done, nil
}

// compactMemory limits the memory, in bytes, for the files that are read at the same time; each represents the files of three tables.
const compactMemory = 32 << 20

// newestRuns is the number of the newest runs that get a separate file: most questions concern a screen of the newest runs, and a reader
// would read a whole month for them.
const newestRuns = 128

// compacter writes one compacted store.
type compacter struct {
	from    fs.FS
	into    disk.Files
	version string
	memory  int
	damaged func(LeftOut)
	tables  bool                // of CompactTables
	sealed  []schema.SealedFile // of CompactTables: what is copied
	done    Compacted
	lost    runfile.Lost               // rows of the source store that are lost: recorded in its events, or found now
	losing  map[*schema.Table][]string // ids of runs whose loss was found now
	events  *runfile.Events            // of the source store
	removed map[string]bool            // runs that are left out
	left    int                        // runs that are still to be read, by the names of files
	temps   []string
	month   string
	set     *runfile.RunSet // of the month; nil between months
	reading readRuns        // for the set
	state   compactState
	origin  origin
	kept    []compactedFile     // of an interrupted Compact, after the runs that were read
	hurt    []schema.SealedFile // damaged files of the source; of a live run, only the times
	leftOut []LeftOut
}

func (c *compacter) all(ctx context.Context) error {
	if complete, err := c.begin(ctx); complete || err != nil {
		return err
	}
	if c.lost = runfile.ReadLost(c.from); c.lost == nil {
		c.lost = runfile.Lost{}
	}
	c.losing = map[*schema.Table][]string{}
	defer func() {
		for _, temp := range c.temps {
			_ = c.into.Remove(temp) // or the next writer does it after a day
		}
	}()
	listing, inputs, err := c.list(ctx)
	if err != nil {
		return err
	}
	events, err := c.readEvents(listing.Events)
	if err != nil {
		return err
	}
	c.removed = c.leftOutBy(events)
	c.origin = originOf(listing, c.removed, c.lost)
	if err := c.keep(); err != nil {
		return err
	}
	if err := c.clear(); err != nil {
		return err
	}
	for _, in := range inputs {
		c.left += in.Sealed.Rows
	}
	if inputs, err = c.narrow(ctx, c.needed(inputs)); err != nil {
		return err
	}
	runs := c.merged(inputs)
	defer runs.Close()
	if err := c.months(ctx, runs); err != nil {
		return err
	}
	if err := c.copyRest(ctx, events); err != nil {
		return err
	}
	if err := c.pack(); err != nil {
		return err
	}
	return c.end()
}

// leftOutBy returns the runs that are left out because events remove them.
func (c *compacter) leftOutBy(events []schema.Event) map[string]bool {
	if c.tables {
		return nil
	}
	return schema.Annotate(events).Removed
}

// pack packs the events, as the first writer of the new store would: before that every question would open a file for each of them.
func (c *compacter) pack() error {
	p := sealing.Packer{Files: c.into, Version: c.version, Now: time.Now(), Rules: sealing.StandardPackRules()}
	return p.Pack()
}

// list lists the source store, and copies its live runs into a temporary file, because sealers may move them at any
// moment.
func (c *compacter) list(ctx context.Context) (*schema.Listing, []runfile.Input, error) {
	var listing *schema.Listing
	err := runfile.ErrMoved
	for attempt := 0; errors.Is(err, runfile.ErrMoved) && attempt < runfile.MaxMoves; attempt++ {
		if listing, err = schema.List(c.from, schema.Scope{}); err != nil {
			return nil, nil, err
		}
		if c.tables {
			listing.Sealed, listing.Live = c.sealed, nil
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

// narrow merges files into temporary ones until few enough are left to be read at the same time.
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
			merged, err := c.temporary(ctx, c.merged(inputs[:length]))
			if err != nil {
				return nil, err
			}
			next, inputs = append(next, merged), inputs[length:]
		}
		inputs = next
	}
}

// months writes the sealed files, one for each month. It ends one before the newest runs.
func (c *compacter) months(ctx context.Context, runs runfile.Reader) error {
	err := runfile.EachRun(ctx, runs, c.add)
	if err == nil {
		err = c.endMonth("")
	}
	if c.set != nil {
		c.set.Remove()
	}
	return err
}

// add adds a run to the file of its month, unless it is removed, or in a file that is kept.
func (c *compacter) add(live *table.Live) error {
	if kept, err := c.isKept(live.RunID); kept || err != nil {
		return err
	}
	if c.left == newestRuns {
		if err := c.endMonth(live.RunID); err != nil {
			return err
		}
	}
	c.left--
	id, err := schema.ParseULID(live.RunID)
	if err != nil {
		return err
	}
	if m := schema.MonthOf(id.Time()); m != c.month {
		if err := c.endMonth(live.RunID); err != nil {
			return err
		}
		c.month = m
	}
	c.reading.next(live.RunID)
	if c.removed[live.RunID] {
		c.reading.removed++
		c.done.Removed++
		return nil
	}
	if c.set == nil {
		if c.set, err = runfile.NewRunSet(c.into, c.version); err != nil {
			return err
		}
	}
	c.done.Runs++
	return c.set.Write(live)
}

// endMonth names the files of a month, or of a part of it. Their id has the time of the last run, so they are in the folder of the
// month. next is the run that comes after them; empty if there is none.
func (c *compacter) endMonth(next string) error {
	before := cmp.Or(c.reading.last, c.reading.before)
	defer func() { c.reading = readRuns{before: before} }()
	if c.set == nil {
		return nil
	}
	if err := c.set.Finish(); err != nil {
		return err
	}
	sealed := c.set.SealedFile(schema.NewULID(c.set.Last.Time()))
	if err := c.set.Publish(sealed); err != nil {
		return err
	}
	var zones []string
	for _, t := range runfile.Tables {
		if c.set.Has(t) {
			zones = append(zones, schema.TableFolders[t])
		}
	}
	c.set.Remove()
	c.set = nil
	c.done.Files++
	return c.finished(sealed, zones, next)
}

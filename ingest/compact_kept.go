package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// compactMark is a file in the new directory that exists until the directory is a store. Its content is a compactState.
const compactMark = schema.CompactFile

// compactState is the state that an interrupted Compact leaves for the next one.
type compactState struct {
	Source string          `json:"source"` // id of the source store
	Files  []compactedFile `json:"files"`  // in the order in which they were finished
	Result *compactResult  `json:"result,omitempty"`
}

// compactResult is set once only the header is missing.
type compactResult struct {
	Done    Compacted `json:"done"`
	Damaged []LeftOut `json:"damaged,omitempty"`
}

// compactedFile is a finished sealed file of the new store, and a fingerprint of its sources.
type compactedFile struct {
	Name    string   `json:"name"`
	Zones   []string `json:"zones"`
	First   string   `json:"first"`   // smallest run id that was read for it
	Last    string   `json:"last"`    // largest run id that was read for it
	Since   int64    `json:"since"`   // all runs of the source from this time, in Unix milliseconds,
	Until   int64    `json:"until"`   // up to this one were read for it
	Read    int      `json:"read"`    // number of runs that were read for it
	Removed int      `json:"removed"` // number of removed runs among them
	From    string   `json:"from"`    // fingerprint of the source between First and Last
}

// readState reads the state that an interrupted Compact left. Unknown content is ignored.
func readState(f fs.FS) (compactState, error) {
	content, err := schema.ReadNames(f, compactMark)
	if err != nil {
		return compactState{}, err
	}
	var state compactState
	if err := schema.ReadSignedJSON(content, &state); err != nil {
		return compactState{}, nil
	}
	return state, nil
}

// writeState makes the state durable.
func (c *compacter) writeState() error {
	content, err := schema.SignJSON(c.state)
	if err != nil {
		return err
	}
	return disk.WithTemp(c.into, content, func(temp string) error {
		if err := c.into.Rename(temp, compactMark); err != nil {
			return err
		}
		return disk.SyncDir(c.into, ".")
	})
}

// readRuns are the runs that were read for a file, or are being read.
type readRuns struct {
	before      string // the run before them; empty if there is none
	first, last string
	n, removed  int
}

// next counts a run.
func (r *readRuns) next(run string) {
	if r.n == 0 {
		r.first = run
	}
	r.last = run
	r.n++
}

// finished records a file, unless one of its source files is damaged: the next Compact has to find the damage again. next is the run
// that comes after it; empty if there is none.
func (c *compacter) finished(sealed schema.SealedFile, zones []string, next string) error {
	f := compactedFile{
		Name: sealed.Name(), Zones: zones, First: c.reading.first, Last: c.reading.last,
		Since: timeOf(c.reading.first), Until: timeOf(c.reading.last), Read: c.reading.n, Removed: c.reading.removed,
	}
	if c.reading.before != "" && timeOf(c.reading.before) == f.Since {
		f.Since++
	}
	if next != "" && timeOf(next) == f.Until {
		f.Until--
	}
	if slices.ContainsFunc(c.hurt, func(s schema.SealedFile) bool { return s.Last >= timeOf(f.First) && s.First <= timeOf(f.Last) }) {
		return nil
	}
	f.From = c.origin.between(f.First, f.Last)
	c.state.Files = append(c.state.Files, f)
	return c.writeState()
}

// timeOf returns the time of a run id, in Unix milliseconds.
func timeOf(run string) int64 {
	id, err := schema.ParseULID(run)
	if err != nil {
		return 0
	}
	return id.Time().UnixMilli()
}

// origin is the content of the source, by name. Sealed files and live runs never change.
type origin struct {
	sealed  []schema.SealedFile // by id
	live    []string            // run ids, ascending
	removed []string            // removed runs, by id
	lost    []string            // run ids with a table each, ascending
}

// originOf returns the listed content.
func originOf(l *schema.Listing, removed map[string]bool, lost runfile.Lost) origin {
	o := origin{removed: slices.Sorted(maps.Keys(removed)), sealed: slices.Clone(l.Sealed)}
	slices.SortFunc(o.sealed, func(a, b schema.SealedFile) int { return a.ID.Compare(b.ID) })
	for _, f := range l.Live {
		o.live = append(o.live, f.Run.String())
	}
	for run, tables := range lost {
		for table := range tables {
			o.lost = append(o.lost, run+" "+table)
		}
	}
	slices.Sort(o.live)
	slices.Sort(o.lost)
	return o
}

// between returns a fingerprint of the source between two runs: the same text means the same runs, with the same rows, the same of them
// removed.
func (o origin) between(first, last string) string {
	sum := sha256.New()
	from, to := timeOf(first), timeOf(last)
	for _, s := range o.sealed {
		if s.Last >= from && s.First <= to {
			fmt.Fprintln(sum, "sealed", s.Name())
		}
	}
	for kind, names := range [][]string{o.live, o.removed, o.lost} {
		at, _ := slices.BinarySearch(names, first)
		for ; at < len(names) && strings.Compare(names[at][:len(last)], last) <= 0; at++ {
			fmt.Fprintln(sum, kind, names[at])
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// keep finds the finished files that are still valid, ascending, and counts them. They have to be complete, and the source must have the
// same runs in their range.
func (c *compacter) keep() error {
	files := c.state.Files
	c.state.Files = nil
	for _, f := range files {
		sealed, err := schema.ParseSealedFile(f.Name)
		if err != nil || f.From != c.origin.between(f.First, f.Last) {
			continue
		}
		whole, err := c.isWhole(f, sealed)
		if err != nil {
			return err
		}
		if !whole {
			continue
		}
		c.state.Files = append(c.state.Files, f)
		c.done.Files++
		c.done.Runs += sealed.Rows
		c.done.Removed += f.Removed
	}
	c.kept = slices.Clone(c.state.Files)
	slices.SortFunc(c.kept, func(a, b compactedFile) int { return strings.Compare(a.First, b.First) })
	return nil
}

// isWhole reports whether all tables of a finished file are there and match their hashes.
func (c *compacter) isWhole(f compactedFile, sealed schema.SealedFile) (bool, error) {
	for _, zone := range schema.TableFolders {
		if !slices.Contains(f.Zones, zone) {
			continue
		}
		err := runfile.CheckHash(c.into, sealed.Path(zone))
		if errors.Is(err, fs.ErrNotExist) || runfile.AboutContent(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// needed returns the inputs that have runs outside of the kept files.
func (c *compacter) needed(inputs []runfile.Input) []runfile.Input {
	return slices.DeleteFunc(inputs, func(in runfile.Input) bool {
		return slices.ContainsFunc(c.kept, func(f compactedFile) bool {
			return f.Since <= in.Sealed.First && in.Sealed.Last <= f.Until
		})
	})
}

// isKept reports whether a run is in a file that is kept. It ends the file before one that is kept.
func (c *compacter) isKept(run string) (bool, error) {
	for len(c.kept) > 0 && c.kept[0].First <= run {
		f := c.kept[0]
		if err := c.endMonth(f.First); err != nil {
			return false, err
		}
		c.reading.before = f.Last
		if run <= f.Last {
			return true, nil
		}
		c.left -= f.Read
		c.kept = c.kept[1:]
	}
	return false, nil
}

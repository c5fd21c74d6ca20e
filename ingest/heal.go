package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// heal restores lost samples and ops of runs from the other store. It records in events which runs have all rows again,
// whoever restored them, and returns their number.
func (m *merging) heal(ctx context.Context, listing *schema.Listing) (healed int, err error) {
	lost := runfile.ReadLost(m.into)
	var ids []schema.ULID
	for id := range lost {
		if run, err := schema.ParseULID(id); err == nil {
			ids = append(ids, run)
		}
	}
	slices.SortFunc(ids, schema.ULID.Compare)
	near, err := runfile.Near(m.into, ids)
	if err != nil {
		return 0, err
	}
	for _, f := range near {
		h := &healing{merging: m, file: f, lost: lost, wanted: map[string]string{}}
		err := ctx.Err()
		if err == nil {
			err = h.all(listing)
		}
		if err != nil {
			return healed, err
		}
		healed += len(h.whole)
	}
	return healed, nil
}

// healing heals the runs of one sealed file.
type healing struct {
	*merging
	file   schema.SealedFile
	lost   runfile.Lost
	wanted map[string]string // digests of the runs that lack rows, by id
	whole  []string          // runs that have all rows, although an event says that they lack some
}

func (h *healing) all(listing *schema.Listing) error {
	damaged, err := h.look()
	if err != nil {
		return err
	}
	if damaged != nil {
		// The error is not wrapped, because it is not damage of the other store.
		h.refuse(h.file.Path(schema.RunsDir), fmt.Errorf("the target store is damaged: %s; run store repair on it first", runfile.ProblemText(damaged)))
		return nil
	}
	if len(h.wanted) > 0 {
		if err := h.fill(listing); err != nil {
			return err
		}
	}
	return runfile.WriteFoundEvents(h.into, h.whole)
}

// look finds the runs that lack rows. It returns the error of a damaged file in damaged.
func (h *healing) look() (damaged, err error) {
	s, err := runfile.Salvage(runfile.InputOf(h.into, h.file), h.lost, func(r runfile.Salvaged) error {
		switch {
		case h.lost[r.RunID] == nil:
		case len(r.Lost) == 0:
			h.whole = append(h.whole, r.RunID)
		default:
			h.wanted[r.RunID] = r.Digest
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if s.Loss != (runfile.Loss{}) {
		return errors.Join(s.Damages()...), nil
	}
	return nil, nil
}

// fill writes the samples and ops of the file again, together with the rows that the other store has.
func (h *healing) fill(listing *schema.Listing) error {
	theirs := runfile.Merge(h.sources(listing))
	defer theirs.Close()
	set, err := runfile.NewRunSet(h.into, h.version)
	if err != nil {
		return err
	}
	defer set.Remove()
	var next *table.Live
	before := len(h.whole)
	_, err = runfile.Salvage(runfile.InputOf(h.into, h.file), h.lost, func(r runfile.Salvaged) error {
		for h.wanted[r.RunID] != "" && (next == nil || next.RunID < r.RunID) {
			live, err := theirs.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			next = live
		}
		rows := r.Live
		if next != nil && next.RunID == r.RunID {
			rows = next
			h.whole = append(h.whole, r.RunID)
		}
		return set.WriteParts(rows)
	})
	if err == nil {
		err = set.Finish()
	}
	if err != nil || len(h.whole) == before {
		return err
	}
	return set.Exchange(h.file)
}

// sources returns readers of the wanted runs that are complete in the other store.
func (h *healing) sources(listing *schema.Listing) []runfile.Reader {
	var readers []runfile.Reader
	for _, f := range listing.Sealed {
		if f.First <= h.file.Last && h.file.First <= f.Last {
			readers = append(readers, &wholeRuns{healing: h, input: runfile.InputOf(h.from, f)})
		}
	}
	var live []schema.LiveFile
	for _, f := range listing.Live {
		digest := h.wanted[f.Run.String()]
		if there, err := runfile.ReadLiveFile(h.from, f); digest != "" && err == nil && there.Digest == digest {
			live = append(live, f)
		}
	}
	slices.SortFunc(live, func(a, b schema.LiveFile) int { return a.Run.Compare(b.Run) })
	return append(readers, &runfile.LiveRuns{FS: h.from, Files: live})
}

// wholeRuns reads the wanted runs that are complete in a sealed file, even if the file is damaged.
type wholeRuns struct {
	*healing
	input runfile.Input
	runs  *runfile.Salvager // nil before the first run
	ended bool
}

func (w *wholeRuns) From() string { return runfile.IDBound(w.input.Sealed.First) }

func (w *wholeRuns) Next() (*table.Live, error) {
	if w.runs == nil && !w.ended {
		runs, err := runfile.NewSalvager(w.input, w.healing.merging.lost)
		if runfile.AboutContent(err) || errors.Is(err, fs.ErrNotExist) { // it is refused elsewhere
			w.ended = true
		} else if err != nil {
			return nil, err
		}
		w.runs = runs
	}
	for !w.ended {
		r, err := w.runs.Next()
		if err != nil {
			return nil, err
		}
		if len(r.Lost) == 0 && w.wanted[r.RunID] == r.Digest {
			return r.Live, nil
		}
	}
	return nil, io.EOF
}

func (w *wholeRuns) Close() {
	if w.runs != nil {
		w.runs.Close()
	}
}

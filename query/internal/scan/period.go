package scan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// FirstID returns the smallest possible id of a run at a time.
func FirstID(ms int64) schema.ULID { return schema.ULIDFrom(time.UnixMilli(ms), [10]byte{}) }

// LastID returns the largest possible id of a run at a time.
func LastID(ms int64) schema.ULID {
	id := FirstID(ms)
	for i := range id[6:] {
		id[6+i] = 0xff
	}
	return id
}

// Period is a period in which runs started: since and before two times. The zero value has no bounds. A run without a start is never
// within bounds.
type Period struct {
	Since, Until int64 // until 0: no bound
}

// NewPeriod makes bounds of two times; the zero time: no bound.
func NewPeriod(since, until time.Time) Period {
	var b Period
	if !since.IsZero() {
		b.Since = max(since.UnixMilli(), 1)
	}
	if !until.IsZero() {
		b.Since, b.Until = max(b.Since, 1), max(until.UnixMilli(), 1)
	}
	return b
}

// Overlap reports whether the period from first to last overlaps the bounds.
func (b Period) Overlap(first, last int64) bool {
	return last >= b.Since && (b.Until == 0 || first < b.Until)
}

// Spans are disjoint periods (first and last millisecond), in order.
type Spans [][2]int64

// NewSpans joins periods that overlap. It reorders all.
func NewSpans(all [][2]int64) Spans {
	slices.SortFunc(all, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	merged := all[:0]
	for _, next := range all {
		if last := len(merged) - 1; last >= 0 && next[0] <= merged[last][1] {
			merged[last][1] = max(merged[last][1], next[1])
		} else {
			merged = append(merged, next)
		}
	}
	return merged
}

// Miss reports whether the period from first to last overlaps none of the spans.
func (s Spans) Miss(first, last int64) bool {
	at, _ := slices.BinarySearchFunc(s, first, func(span [2]int64, first int64) int { return cmp.Compare(span[1], first) })
	return at == len(s) || s[at][0] > last
}

// Start is when a file of runs begins, in Unix milliseconds.
type Start struct {
	At   int64
	Runs int
}

// Windows divides all time into windows with about the given number of runs each, if the runs of each file have the start of the file.
// It reorders starts.
func Windows(starts []Start, runs int) []Period {
	slices.SortFunc(starts, func(a, b Start) int { return cmp.Compare(a.At, b.At) })
	all := []Period{{}}
	held := 0
	for _, s := range starts {
		if last := &all[len(all)-1]; held >= runs && s.At > last.Since {
			last.Until = s.At
			all, held = append(all, Period{Since: s.At}), 0
		}
		held += s.Runs
	}
	return all
}

// JoinPeriods joins neighbouring windows that together have at most the given number of runs. counts are the runs of each window; the
// last ones may be missing.
func JoinPeriods(windows []Period, counts []int64, runs int64) []Period {
	var all []Period
	held := int64(0)
	for i, b := range windows {
		n := int64(0)
		if i < len(counts) {
			n = counts[i]
		}
		if i > 0 && held+n <= runs {
			all[len(all)-1].Until, held = b.Until, held+n
		} else {
			all, held = append(all, b), n
		}
	}
	return all
}

// Windows divides all time into windows with about this many matching runs each. It counts the matches in each part of the time first,
// because reading the few matching runs of a large store window by window takes longer than reading all of them at once.
func (r *Reader) Windows(ctx context.Context, sel Selection, runs int) ([]Period, error) {
	all := sel.Src.windows(runs)
	if sel.SQL == "" || len(all) == 1 {
		return all, nil
	}
	ends := make([]string, len(all)-1)
	for i, b := range all[1:] {
		ends[i] = firstID(b.Since)
	}
	text := fmt.Sprintf("SELECT coalesce(map_values(histogram(run_id, $%d::VARCHAR[])), [])::BIGINT[] FROM %s",
		len(sel.Args)+1, sel.Src.Scan(WithRunID(sel.Columns), sel.SQL))
	row, err := r.Conn.One(ctx, duck.Statement{SQL: text, Args: append(slices.Clone(sel.Args), ends)})
	if err != nil {
		return nil, err
	}
	var counts []int64
	for _, n := range duck.List(row[0]) {
		counts = append(counts, duck.Integer(n))
	}
	return JoinPeriods(all, counts, int64(runs)), nil
}

// windows divides all time into windows with about this many runs each, estimated from file names.
func (s *Sources) windows(runs int) []Period {
	var starts []Start
	for _, files := range [][]file{s.Live, s.sealed} {
		for i := range files {
			first, _ := files[i].span()
			starts = append(starts, Start{At: first, Runs: max(files[i].sealed.Rows, 1)})
		}
	}
	return Windows(starts, runs)
}

// partFiles is the number of files of a part: DuckDB keeps some kilobytes of memory for each.
const partFiles = 2048

// Parts divides the sources into parts with few files each. Each run is in one part.
func (s *Sources) Parts() []*Sources {
	var all []*Sources
	add := func(live, read []file) {
		part := *s
		part.Live, part.sealed, part.Read = live, nil, read
		all = append(all, &part)
	}
	for live := range slices.Chunk(s.Live, partFiles) {
		add(live, nil)
	}
	for read := range slices.Chunk(s.Read, partFiles) {
		add(nil, read)
	}
	return all
}

// FirstStep is about how many runs a search from the newest run on reads first.
const FirstStep = 25_000

// FromNewest calls do with bounds that begin earlier and earlier within others, until it is done or they begin with the others. The
// first bounds have at least the given number of runs, estimated from file names, and each about eight times as many as the one before.
func (s *Sources) FromNewest(within Period, runs int, do func(Period) (done bool, err error)) error {
	windows := s.Within(within).windows(runs)
	for back := 2; ; back *= 8 {
		b := within
		if at := len(windows) - back; at > 0 && windows[at].Since > b.Since {
			b.Since = windows[at].Since
		}
		if done, err := do(b); done || err != nil || b == within {
			return err
		}
	}
}

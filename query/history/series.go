package history

import (
	"context"
	"iter"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Significance of change points.
const (
	historyAlpha      = .05 // chance of a false change point in one series, and false discovery rate among many
	historyConfidence = .95 // of the interval of a shift

	// historyLookAlpha is historyAlpha for each of 365 looks at the same series, one per day (Bonferroni).
	historyLookAlpha = historyAlpha / 365
)

// MinSessions is the number of sessions that a series needs before SBS can find a change, if there are no other series: see History.Needs.
const MinSessions = 8

// GateSessions is the number of sessions that a series needs before a step in it can be a regression for a gate.
const GateSessions = 17

// MinSlowSessions is the number of sessions over which a level rises or falls at least, to be a slow change.
const MinSlowSessions = stat.MinRamp

// Spike is the verdict on a single session that is far from the level of the sessions before and after it. It is not a change.
const Spike judge.Verdict = "spike"

// trend holds the change points of a series, as history or as a gate calls them.
type trend struct {
	points   []stat.ChangePoint
	visible  []stat.ChangePoint // of the whole series: see stat.Trend.VisibleChanges
	slow     []stat.ChangePoint // ramps of the whole series that are statistically significant in a single test of it
	adjusted float64            // smallest p of the change points, adjusted over all series; NaN: none
	marks    []mark             // ascending

	// visibleFrom are the indexes of the visible steps after the last change point, at which a level ends, too: a level of two steps would be
	// the median of values that no session had.
	visibleFrom []int
	lastLevel   int // index of the entry with which the last level begins
}

// mark is a verdict on an entry of a series.
type mark struct {
	stat.ChangePoint // Shift of a spike is the distance of the entry from the level, without an interval
	verdict          judge.Verdict
	chance           bool          // it may be chance
	clocks           *query.Clocks // of the levels before and after; nil unless they differ
}

// last returns the index of the session in which a change is complete: a step takes place in one session.
func last(p stat.ChangePoint) int { return max(p.Index, p.Until-1) }

// at returns the index of the entry that is marked.
func (m *mark) at() int { return last(m.ChangePoint) }

// rampSessions returns the number of sessions over which the level rises or falls; 0: it is a step.
func (m *mark) rampSessions() int {
	if m.Until == 0 {
		return 0
	}
	return m.Until - m.After
}

// isChange reports whether the level differs from here on.
func (m *mark) isChange() bool { return !m.chance && m.verdict != Spike }

// historian computes a History.
type historian struct {
	History
	req               Request
	window            int // see runsPerWindow
	byKey             map[lineKey]*line
	failed            map[pointOn][]failedIn
	lines             []*line // series with a location, in the order of their first sessions
	unplaced          int     // number of series without an entry that have ok runs without a start
	shown             []*line // series with rows
	departed          []*line // series with a departure
	undecided         *line   // the series of History.Undecided
	level             float64 // the largest p that would be significant in one more series, as the others are now
	bisected          map[int32]bool
	heads             map[headOf]map[int32]schema.ULID // a run of each session of bisect that tested a commit at a point
	sessions, commits interned
	rates             scan.RateUnits
}

func newHistorian(req Request, window int) *historian {
	return &historian{
		req: req, window: window, byKey: map[lineKey]*line{}, failed: map[pointOn][]failedIn{}, bisected: map[int32]bool{}, heads: map[headOf]map[int32]schema.ULID{},
		sessions: interned{places: map[string]int32{}}, commits: interned{places: map[string]int32{}},
	}
}

// order merges the runs of each session, or of sessions that began at the same time, into one entry, and sorts the series by their first
// session.
func (h *historian) order() {
	h.dropWrong()
	ok := h.okSessions()
	h.lines = slices.Collect(maps.Values(h.byKey))
	unknown := h.commits.place("")
	h.eachLine(func(_ int, l *line) { l.merge(unknown) })
	h.lines = slices.DeleteFunc(h.lines, func(l *line) bool {
		if len(l.entries) == 0 && l.undated > 0 {
			h.unplaced++
		}
		return len(l.entries) == 0
	})
	tied := make(starts, len(h.sessions.texts))
	for _, l := range h.lines {
		l.failed = h.failedSince(l, ok[l.pointOn()])
		for i := range l.tied {
			tied.add(&l.tied[i])
		}
		l.tied = nil
	}
	for _, at := range tied {
		if at != 0 {
			h.Tied++
		}
	}
	h.TiedStarts = len(tied.distinct())
	h.Matching -= h.Tied - h.TiedStarts
	h.byKey, h.failed, h.Known = nil, nil, len(h.lines)
	slices.SortFunc(h.lines, func(a, b *line) int { return earlier(a.entries[0], b.entries[0]) })
}

// locations returns the values of a series on the scale on which it is compared: logarithms, or plain values for a difference.
func (l *line) locations() []float64 {
	all := make([]float64, len(l.entries))
	for i, e := range l.entries {
		all[i] = e.location
	}
	return all
}

// findChanges finds the change points of all series and keeps those that are significant among all series. For a gate it also finds those
// that are significant at each of its looks; a gate bounds the error of each series separately.
func (h *historian) findChanges() {
	if h.req.Method == Otava {
		for _, l := range h.lines {
			l.series = trend{points: otavaPoints(l), adjusted: math.NaN()}
			l.series.marks = l.changes(&l.series)
		}
		return
	}
	gated := h.req.Newest > 0
	p := make([]float64, len(h.lines)) // smallest p of each series
	h.eachLine(func(i int, l *line) { p[i] = l.findChanges(gated) })
	called := 0
	for i, p := range stat.BenjaminiHochberg(p) {
		t := &h.lines[i].series
		t.adjusted = p
		if p <= historyAlpha {
			called++
		} else {
			t.points = nil
		}
	}
	h.level = historyAlpha * float64(called+1) / float64(max(h.Known, called+1))
	h.Needs = needs(h.level)
	h.eachLine(func(_ int, l *line) {
		l.mark(&l.series)
		if gated {
			l.mark(&l.gated)
		}
	})
	h.findDepartures()
}

// needs returns the number of sessions from which on a step in their middle can be significant at a level.
func needs(level float64) int {
	n := MinSessions
	for stat.LeastP(n/2, n-n/2) > level {
		n++
	}
	return n
}

// findChanges finds the change points of a series, also as a gate calls them, and returns the smallest p of them.
func (l *line) findChanges(gated bool) float64 {
	found := stat.NewTrend(l.locations())
	l.series.points = found.Changes(historyAlpha, l.margin)
	l.series.visible = found.VisibleChanges(historyAlpha, l.margin)
	l.series.slow = slices.DeleteFunc(slices.Clone(l.series.points), func(p stat.ChangePoint) bool { return p.Until == 0 })
	if gated {
		l.gated = l.series
		l.gated.points = found.Changes(historyLookAlpha, l.margin)
	}
	p := 1.
	if len(l.entries) < MinSessions {
		p = math.NaN() // it cannot have a change point, so it does not count as a test
	}
	for _, point := range l.series.points {
		p = min(p, point.P)
	}
	return p
}

// eachLine calls do for every series and its index, several at a time. do must not change anything that another series has.
func (h *historian) eachLine(do func(i int, l *line)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(h.lines)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(h.lines); i = int(next.Add(1)) - 1 {
				do(i, h.lines[i])
			}
		})
	}
	workers.Wait()
}

// changes returns the marks of the change points of a trend.
func (l *line) changes(t *trend) []mark {
	var marks []mark
	for _, p := range t.points {
		marks = append(marks, mark{ChangePoint: p, verdict: l.verdictOf(p)})
	}
	return marks
}

// mark marks the changes of a trend, what may be a change after the last one, and the spikes of each level.
func (l *line) mark(t *trend) {
	t.marks = l.changes(t)
	locations := l.locations()
	low := 0
	for _, p := range t.points {
		t.markSpikes(locations, low, p.Index, l.margin)
		low = max(p.Index, p.Until)
	}
	seen := l.visible(t, locations, low)
	if n := len(t.points); n > 0 && len(seen) > 0 {
		m := &t.marks[n-1]
		if first, before, after, _ := l.bounds(t, m.ChangePoint); m.Until == 0 {
			m.Shift = stat.Shift(locations[first:before], locations[after:seen[0].Index], historyConfidence)
			m.verdict = l.verdictOf(m.ChangePoint)
		}
	}
	if m := open(t, seen, low); m != nil {
		t.marks = append(t.marks, mark{ChangePoint: *m, verdict: judge.Inconclusive, chance: true})
		for _, step := range seen {
			if at := step.Index; at <= begin(*m) {
				t.visibleFrom = append(t.visibleFrom, at)
				t.markSpikes(locations, low, at, l.margin)
				low = at
			}
		}
		t.markSpikes(locations, low, m.Index, l.margin) // before a slow change
		low = max(m.Index, m.Until)
	}
	t.markSpikes(locations, low, len(locations), l.margin)
	t.lastLevel = low
	slices.SortFunc(t.marks, func(a, b mark) int { return a.at() - b.at() })
}

// visible returns the visible steps from entry low on.
func (l *line) visible(t *trend, locations []float64, low int) []stat.ChangePoint {
	if low == 0 {
		return t.visible
	}
	seen := stat.NewTrend(locations[low:]).VisibleChanges(historyAlpha, l.margin)
	for i := range seen {
		seen[i].Index, seen[i].After, seen[i].By = seen[i].Index+low, seen[i].After+low, seen[i].By+low
	}
	return seen
}

// open returns the last inconclusive change from entry low on, or nil: a slow change or a visible step, whichever ends later. The steps
// within a slow change are parts of it.
func open(t *trend, seen []stat.ChangePoint, low int) *stat.ChangePoint {
	var last *stat.ChangePoint
	for _, p := range t.slow {
		if p.After >= low {
			last = &p
		}
	}
	if len(seen) > 0 {
		if step := seen[len(seen)-1]; last == nil || step.Index >= last.Until {
			last = &step
		}
	}
	return last
}

// markSpikes marks the spikes of the level that spans entries low to high-1.
func (t *trend) markSpikes(locations []float64, low, high int, margin stat.Margin) {
	for _, s := range stat.Spikes(locations[low:high], margin) {
		by := stat.Estimate{Value: s.By, Low: math.Inf(-1), High: math.Inf(1)}
		t.marks = append(t.marks, mark{ChangePoint: stat.ChangePoint{Index: low + s.Index, Shift: by, P: math.NaN()}, verdict: Spike})
	}
}

// margin returns the largest shift at which a level counts as unchanged. If a metric is compared by difference because of its values, the
// margin is judge.DefaultThreshold, as a share of the level. It is 0 for a metric that is always compared by difference, because only its
// user knows which differences matter.
func (l *line) margin(level float64) float64 {
	switch {
	case l.scale == schema.ScaleRatio:
		return -math.Log1p(-judge.DefaultThreshold) // 2 % less is a little more in logarithms than 2 % more
	case schema.ScaleOf(l.metric) == schema.ScaleRatio:
		return judge.DefaultThreshold * math.Abs(level)
	}
	return 0
}

// otavaPoints returns the change points that Otava's method finds in the values (in the unit, not logarithms), with their shifts.
func otavaPoints(l *line) []stat.ChangePoint {
	locations := l.locations()
	values := make([]float64, len(locations))
	for i, location := range locations {
		values[i] = l.scale.InUnit(location)
	}
	ends := append([]int{0}, stat.Otava(values)...)
	ends = append(ends, len(values))
	var points []stat.ChangePoint
	for i, at := range ends[1 : len(ends)-1] {
		shift := stat.Shift(locations[ends[i]:at], locations[at:ends[i+2]], historyConfidence)
		points = append(points, stat.ChangePoint{Index: at, After: at - 1, By: at, Shift: shift, P: math.NaN()})
	}
	return points
}

// requested returns the entries of a series that the request selects, each with its mark or nil.
func (h *historian) requested(l *line) iter.Seq2[int, *mark] {
	return func(yield func(int, *mark) bool) {
		marks := l.series.marks
		for i, e := range l.entries {
			var m *mark
			if len(marks) > 0 && marks[0].at() == i {
				m, marks = &marks[0], marks[1:]
			}
			if time.UnixMicro(e.began).Before(h.req.Since) || h.req.Regressions && (m == nil || m.verdict != judge.Regressed) {
				continue
			}
			if !yield(i, m) {
				return
			}
		}
	}
}

// rowsOf returns the requested entries that become rows: with Request.Outline only the first, the last and the marked ones.
func (h *historian) rowsOf(l *line) iter.Seq2[int, *mark] {
	return func(yield func(int, *mark) bool) {
		first := true
		for i, m := range h.requested(l) {
			if h.req.Outline && !first && m == nil && i < len(l.entries)-1 {
				continue
			}
			if first = false; !yield(i, m) {
				return
			}
		}
	}
}

// outline fills in History.Series: which series have rows, and which rows.
func (h *historian) outline() {
	began := make(starts, len(h.sessions.texts))
	rows := 0
	for _, l := range h.lines {
		s := Series{First: rows, Sessions: len(l.entries), ByCommit: l.commits, Failed: l.failed}
		for i := range h.requested(l) {
			began.add(&l.entries[i])
			s.Locations = append(s.Locations, l.entries[i].plain)
		}
		for _, m := range h.rowsOf(l) {
			switch {
			case m == nil:
			case m.verdict == Spike:
				s.Spikes = append(s.Spikes, rows)
			default:
				s.Changes = append(s.Changes, h.change(l, m, rows))
			}
			rows++
		}
		s.Departure = l.departure
		if l.failed > 0 {
			h.Failing++
		}
		if m := l.inconclusive(); m != nil && !time.UnixMicro(l.entries[m.at()].began).Before(h.req.Since) {
			h.Inconclusive++
		}
		h.Longest = max(h.Longest, len(l.entries))
		if len(l.entries) < h.Needs && len(l.series.marks) == 0 {
			h.Few++
		}
		if s.End = rows; s.End > s.First {
			h.Series, h.shown = append(h.Series, s), append(h.shown, l)
		} else if l.failed > 0 && !h.req.Regressions {
			h.Discontinued++
		}
	}
	h.Sessions = len(began.distinct())
}

// inconclusive returns the visible step or slow change of a series that may be chance, or nil. There is at most one.
func (l *line) inconclusive() *mark {
	for i := range l.series.marks {
		if m := &l.series.marks[i]; m.verdict == judge.Inconclusive {
			return m
		}
	}
	return nil
}

// change describes a change of a series: the commits and sessions before and after it.
func (h *historian) change(l *line, m *mark, row int) Change {
	base, head, last := l.entries[m.After], l.entries[m.By], l.entries[l.levelEnd(m.at())-1]
	first, before, after, end := l.bounds(&l.series, m.ChangePoint)
	return Change{
		Row: row, Base: h.commits.text(base.commit), Head: h.commits.text(head.commit), After: base.time(), By: head.time(), Places: m.By - m.After,
		OldLevel: l.valueOf(first, before), NewLevel: l.valueOf(after, end),
		baseRun: base.first, headRun: head.first, lastRun: last.first,
	}
}

// begin and end enclose the sessions in which a level changes: of a step there are none.
func begin(p stat.ChangePoint) int {
	if p.Until > 0 {
		return p.After
	}
	return p.Index
}

func end(p stat.ChangePoint) int { return max(p.Index, p.Until) }

// bounds returns the entries of the levels around a change: first to before-1 and after to last-1.
func (l *line) bounds(t *trend, change stat.ChangePoint) (first, before, after, last int) {
	last = len(l.entries)
	for _, p := range t.points {
		switch {
		case p.Index < change.Index:
			first = end(p)
		case begin(p) > change.Index:
			last = min(last, begin(p))
		}
	}
	for _, at := range t.visibleFrom {
		switch {
		case at < change.Index:
			first = max(first, at)
		case at > change.Index:
			last = min(last, at)
		}
	}
	return first, max(begin(change), first+1), min(end(change), last-1), last
}

// valueOf returns the median of the entries low to high-1, in the unit.
func (l *line) valueOf(low, high int) float64 {
	values := make([]float64, 0, high-low)
	for _, e := range l.entries[low:high] {
		values = append(values, e.plain)
	}
	return stat.Median(values)
}

// levelEnd returns the end (exclusive) of the level that begins with entry i: the next change, or the end of the series.
func (l *line) levelEnd(i int) int {
	_, _, _, end := l.bounds(&l.series, stat.ChangePoint{Index: i})
	return end
}

// name reads the identity of the series that have rows, from one run of each, and of all series for an outline.
func (h *historian) name(ctx context.Context, r *scan.Reader) error {
	named := slices.Concat(h.shown, h.departed)
	if h.undecided != nil {
		named = append(named, h.undecided)
	}
	if len(named) == 0 {
		return nil
	}
	if h.req.Outline {
		named = h.lines
	}
	byRun := make(map[schema.ULID]*line, len(named))
	for _, l := range named {
		byRun[l.entries[0].first] = l
	}
	ids := slices.SortedFunc(maps.Keys(byRun), scan.CompareIDs)
	columns, err := scan.RunColumns(append(slices.Clone(query.Identity), "params"))
	if err != nil {
		return err
	}
	t, err := r.Rows(ctx, ids, columns)
	if err != nil {
		return err
	}
	for i, id := range ids {
		row := t.Rows[i]
		params, _ := row[len(query.Identity)].(map[string]any)
		byRun[id].of = query.PointOf(row, params)
	}
	if h.req.Outline {
		for _, l := range named {
			h.Points = append(h.Points, SeriesPoint{l.point, l.of, l.metric})
		}
	}
	return nil
}

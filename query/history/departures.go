package history

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Departure is a series whose newest sessions are far off its level: too few to tell whether they are a change or a spike.
type Departure struct {
	Row      Row // the newest session: Shift is the change from Level to its Location, and Verdict says in which direction it is far off
	Sessions int // number of newest sessions that are far off
	// Since is when the first of them started, in UTC; nil if unknown. Base and Head are the commits of the session before it and of it; empty
	// if unknown.
	Since      *time.Time
	Base, Head string
	Before     string  // the session before them, of the level; empty if compare cannot judge: it or the newest one has too few runs (or processes, where its samples are these), or there are too few earlier sessions as far apart
	Sweep      string  // of the departure that comes first: path of the sweep file of the newest session, as the user named it; empty: there is none
	Rare       bool    // at most 5 % of the earlier sessions had a value so far off for the worse, in any series: see markRare
	Level      float64 // median of the sessions since the last change, in the unit
	Missing    int     // number of further sessions that a verdict needs at least

	by  float64 // distance from the level of locations, on the scale of the series: the median of a session may be off by more or less
	run schema.ULID
}

// recentSessions is the number of newest sessions that a series must have a value in to count as measured still, unless a gate says
// how many.
const recentSessions = 14

// findDepartures finds the series whose newest sessions are far off, and counts those that the newest session lacks.
func (h *historian) findDepartures() {
	starts := h.newest(cmp.Or(h.req.Newest, recentSessions))
	var measured []*line
	for _, l := range h.lines {
		newest := l.entries[len(l.entries)-1].began
		if l.failed > 0 || newest < starts[0] || time.UnixMicro(newest).Before(h.req.Since) {
			continue
		}
		if measured = append(measured, l); newest < starts[len(starts)-1] {
			recent := len(l.entries) - slices.IndexFunc(l.entries, func(e entry) bool { return e.began >= starts[0] })
			if 2*recent >= len(starts) {
				h.Absent++
			}
		}
		if n, by := stat.Departure(l.locations()[l.series.lastLevel:], l.margin); n > 0 {
			missing := 1
			for stat.LeastP(len(l.entries)-n, n+missing) > h.level {
				missing++
			}
			l.departure = &Departure{Sessions: n, Level: l.valueOf(l.series.lastLevel, len(l.entries)), Missing: missing, by: by}
			h.departed = append(h.departed, l)
		}
	}
	if 2*h.Absent > len(measured) { // the newest session was about something else
		h.Absent = 0
	}
	if len(h.departed) > 0 {
		h.markRare(measured)
	}
}

// markRare marks the departures that are rare among the earlier sessions of all series that are measured. As long as nothing changes, each
// session is as likely as any other to have the most prominent value, whatever the values are distributed like, and however series depend on
// each other. So at most 5 % of the sessions have a rare departure, or 1 of n if there are fewer than 20: the adjusted p of the permutation
// test of a maximum (Westfall and Young, Resampling-Based Multiple Testing, 1993).
func (h *historian) markRare(measured []*line) {
	most := slices.Repeat([]float64{math.Inf(-1)}, len(h.sessions.texts)) // by session
	for _, l := range measured {
		for i, v := range l.prominences() {
			session := l.entries[l.series.lastLevel+i].session
			most[session] = max(most[session], v)
		}
	}
	for _, l := range h.departed {
		own, newest := l.prominences(), map[int32]bool{}
		own = own[len(own)-l.departure.Sessions:]
		for _, e := range l.entries[len(l.entries)-l.departure.Sessions:] {
			newest[e.session] = true
		}
		earlier, as := 0, 0
		for session, v := range most {
			if newest[int32(session)] || math.IsInf(v, -1) {
				continue
			}
			if earlier++; v >= slices.Max(own) {
				as++
			}
		}
		l.departure.Rare = float64(as+1) <= max(1, historyAlpha*float64(earlier+1))
	}
}

// prominences returns how far the values of the last level are off for the worse, or in either direction if it is unknown which is better:
// see stat.Prominences.
func (l *line) prominences() []float64 {
	newest := 0
	if l.departure != nil {
		newest = l.departure.Sessions
	}
	all := stat.Prominences(l.locations()[l.series.lastLevel:], newest, l.margin)
	for i, v := range all {
		switch schema.Better(l.better) {
		case schema.BetterLower:
		case schema.BetterHigher:
			all[i] = -v
		default:
			all[i] = math.Abs(v)
		}
	}
	return all
}

// nameSweep fills in Departure.Sweep.
func (h *historian) nameSweep(ctx context.Context, r *scan.Reader) error {
	if len(h.Departures) == 0 {
		return nil
	}
	d := h.Departures[0]
	known, err := query.Facts(ctx, r, []schema.ULID{d.run})
	d.Sweep = known[d.run]["env.sweep.file"]
	return err
}

// departures makes the departures, the worst first, of which those that are rare come first.
func (h *historian) departures(ctx context.Context, r *scan.Reader) error {
	processes, err := h.processes(ctx, r)
	if err != nil {
		return err
	}
	for _, l := range h.departed {
		last, d := len(l.entries)-1, l.departure
		point := stat.ChangePoint{Index: last, Shift: stat.Estimate{Value: d.by, Low: math.Inf(-1), High: math.Inf(1)}, P: math.NaN()}
		d.Row = h.row(l, last, &mark{ChangePoint: point, verdict: Spike})
		d.Row.Shift, d.Row.Verdict = finite(l.scale.Between(d.Level, d.Row.Location)), l.verdictOf(point)
		before, first := l.entries[last-d.Sessions], l.entries[last-d.Sessions+1]
		d.run = l.entries[last].first
		d.Since, d.Base, d.Head = first.time(), h.commits.text(before.commit), h.commits.text(first.commit)
		enough := min(before.runs, l.entries[last].runs) >= judge.FirmRuns || min(processes[before.first], processes[d.run]) >= judge.FirmRuns
		if enough && l.comparable(last-d.Sessions, last) {
			d.Before = h.sessions.text(before.session)
		}
		h.Departures = append(h.Departures, d)
	}
	order := []judge.Verdict{judge.Regressed, judge.Changed, judge.Improved}
	rare := func(d *Departure) int { return slices.Index([]bool{true, false}, d.Rare) }
	slices.SortStableFunc(h.Departures, func(a, b *Departure) int {
		return cmp.Or(slices.Index(order, a.Row.Verdict)-slices.Index(order, b.Row.Verdict), rare(a)-rare(b), cmp.Compare(math.Abs(b.by), math.Abs(a.by)))
	})
	return nil
}

// processes returns, of the departures whose samples are processes, how many samples the first run of the newest session and of the last one of
// the level have. Of few runs compare judges these processes: see judge.Processes.
func (h *historian) processes(ctx context.Context, r *scan.Reader) (map[schema.ULID]int64, error) {
	var ids []schema.ULID
	metrics := map[schema.ULID]string{}
	for _, l := range h.departed {
		if l.level != schema.LevelProcess {
			continue
		}
		last := len(l.entries) - 1
		for _, e := range []entry{l.entries[last-l.departure.Sessions], l.entries[last]} {
			ids, metrics[e.first] = append(ids, e.first), l.metric
		}
	}
	slices.SortFunc(ids, scan.CompareIDs)
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return nil, nil
	}
	columns, err := scan.RunColumns([]string{"metric", "n_samples"})
	if err != nil {
		return nil, err
	}
	t, err := r.Rows(ctx, ids, columns)
	if err != nil {
		return nil, err
	}
	found := map[schema.ULID]int64{}
	for i, id := range ids {
		if n, ok := t.Rows[i][1].(int64); ok && t.Rows[i][0] == metrics[id] { // of another metric than the primary one it is not known
			found[id] = n
		}
	}
	return found, nil
}

// comparable reports whether enough sessions are known for compare to judge two entries. Runs without a start do not count there.
func (l *line) comparable(base, head int) bool {
	if !l.entries[base].dated || !l.entries[head].dated {
		return false
	}
	var earlier []int64
	for _, e := range l.entries[:base+1] {
		if e.dated {
			earlier = append(earlier, e.began)
		}
	}
	return compare.EnoughHistory(earlier, l.entries[head].began)
}

package summary

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema"
)

// OperatorState compares an operator of the head with the same operator of the base.
type OperatorState string

// The states. An operator whose time differs by less than operatorMargin is the same; one profile of each side shows no noise, so a state
// is no verdict.
const (
	OperatorSame     OperatorState = "same"
	OperatorSlower   OperatorState = "slower"
	OperatorFaster   OperatorState = "faster"
	OperatorAppeared OperatorState = "appeared"
	OperatorVanished OperatorState = "vanished"
)

// OperatorStates lists all states, in the order of a summary.
var OperatorStates = []OperatorState{OperatorSlower, OperatorFaster, OperatorAppeared, OperatorVanished, OperatorSame}

// operatorMargin is the share of the time on the base below which a change of an operator counts as none, as in a comparison.
const operatorMargin = .02

// OperatorChange is an operator, by its folded name, on both sides. A side without it has 0 ns.
type OperatorChange struct {
	Operator             string
	State                OperatorState
	Base, Head           float64  // time in ns; see OperatorChanges
	BaseCount, HeadCount *float64 // number of executions; nil: unknown
	Share                *float64 // share of the change of the total; nil: the total has not changed
}

// OperatorChanges compares the operators of profiled runs. Times are sums over the points, of one iteration of each; if PerIteration is
// false, the number of iterations of a profile is not known, and times are totals of the profiles. The changes of all rows add up to the
// change of the totals.
type OperatorChanges struct {
	Rows         []OperatorChange // the largest changes first
	Base, Head   float64          // total times in ns
	Points       int
	PerIteration bool
}

// maxProfiles is the number of newest profiled runs of a side that are looked at.
const maxProfiles = 2000

// CompareOperators compares the operators of the newest profiled run of each point and profiler that both filters match. Without a head, the
// base selects sessions with two sides, which are compared. A single point on each side is compared although its identity differs. It is an
// ErrInput if no point was profiled on both sides.
func CompareOperators(ctx context.Context, db *query.DB, base, head string) (OperatorChanges, error) {
	if head == "" {
		base, head = filter.JoinArguments(base, "side=base"), filter.JoinArguments(base, "side=head")
	}
	var sides [2]map[profileKey]schema.Run
	for i, selection := range []string{base, head} {
		var err error
		if sides[i], err = newestProfiles(ctx, db, selection); err != nil {
			return OperatorChanges{}, err
		}
		if len(sides[i]) == 0 {
			return OperatorChanges{}, answer.InputError("compare --ops: no profiled run matches %s; bench --profile and ingest make some", answer.Brief(selection))
		}
	}
	pairs := pairsOfProfiles(sides[0], sides[1])
	if len(pairs) == 0 {
		return OperatorChanges{}, answer.InputError("compare --ops: no point was profiled by the same profiler on both sides")
	}
	return operatorChanges(ctx, db, pairs)
}

// profileKey identifies a point that a profiler measured.
type profileKey struct{ point, machine, profiler string }

// newestProfiles returns the newest profiled run of each point and profiler that a filter matches.
func newestProfiles(ctx context.Context, db *query.DB, selection string) (map[profileKey]schema.Run, error) {
	list := query.ListRequest{Filter: filter.JoinArguments(selection, "purpose=profile", "status=ok"), Limit: maxProfiles}
	runs, err := db.Runs(ctx, list, "run_id", "point_id", "machine", "source", "env")
	newest := map[profileKey]schema.Run{}
	for _, r := range runs {
		key := profileKey{r.PointID, r.Env.Machine, cmp.Or(r.Env.Facts["runner.profile"], r.Source)}
		if _, newer := newest[key]; !newer {
			newest[key] = r
		}
	}
	return newest, err
}

// pairsOfProfiles pairs the runs of both sides.
func pairsOfProfiles(base, head map[profileKey]schema.Run) (pairs [][2]schema.Run) {
	for key, b := range base {
		if h, both := head[key]; both {
			pairs = append(pairs, [2]schema.Run{b, h})
		}
	}
	if len(pairs) > 0 || len(base) != 1 || len(head) != 1 {
		return pairs
	}
	for k, b := range base {
		for l, h := range head {
			if k.profiler == l.profiler {
				pairs = append(pairs, [2]schema.Run{b, h})
			}
		}
	}
	return pairs
}

// operatorChanges adds up the operators of pairs of runs.
func operatorChanges(ctx context.Context, db *query.DB, pairs [][2]schema.Run) (OperatorChanges, error) {
	c := OperatorChanges{Points: len(pairs), PerIteration: true}
	var ids []string
	for _, pair := range pairs {
		for i := range pair {
			ids = append(ids, pair[i].RunID)
			c.PerIteration = c.PerIteration && Iterations(&pair[i]) > 0
		}
	}
	slices.Sort(ids)
	mixes, err := OperatorMixes(ctx, db, slices.Compact(ids))
	if err != nil {
		return c, err
	}
	var sides [2]map[string]operatorTime
	for i := range sides {
		sides[i] = map[string]operatorTime{}
		for _, pair := range pairs {
			iterations := 1.
			if c.PerIteration {
				iterations = float64(Iterations(&pair[i]))
			}
			for _, part := range mixes[pair[i].RunID] {
				name := FoldName(part.Operator)
				sides[i][name] = sides[i][name].plus(part, iterations)
			}
		}
	}
	c.add(sides[0], sides[1])
	if len(c.Rows) == 0 {
		return c, answer.InputError("compare --ops: the profiled runs have no operators with times; plot flame draws the stacks of a run, and show its metrics")
	}
	return c, nil
}

// operatorTime is the time of an operator on a side, and how often it was executed.
type operatorTime struct {
	time, count float64
	uncounted   bool // it is not known how often
}

func (t operatorTime) plus(part MixPart, iterations float64) operatorTime {
	t.time += float64(part.DurationNS) / iterations
	if part.Count == nil {
		t.uncounted = true
	} else {
		t.count += float64(*part.Count) / iterations
	}
	return t
}

func (t operatorTime) executions(there bool) *float64 {
	if !there || t.uncounted {
		return nil
	}
	return &t.count
}

// add makes the rows.
func (c *OperatorChanges) add(base, head map[string]operatorTime) {
	names := map[string]bool{}
	for _, side := range []map[string]operatorTime{base, head} {
		for name := range side {
			names[name] = true
		}
	}
	for name := range names {
		b, inBase := base[name]
		h, inHead := head[name]
		row := OperatorChange{Operator: name, State: OperatorSame, Base: b.time, Head: h.time, BaseCount: b.executions(inBase), HeadCount: h.executions(inHead)}
		switch {
		case !inBase:
			row.State = OperatorAppeared
		case !inHead:
			row.State = OperatorVanished
		case math.Abs(h.time-b.time) < operatorMargin*b.time:
		case h.time > b.time:
			row.State = OperatorSlower
		default:
			row.State = OperatorFaster
		}
		c.Rows = append(c.Rows, row)
	}
	slices.SortFunc(c.Rows, func(a, b OperatorChange) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Head-b.Base), math.Abs(a.Head-a.Base)), cmp.Compare(b.Base, a.Base), strings.Compare(a.Operator, b.Operator))
	})
	for _, row := range c.Rows {
		c.Base += row.Base
		c.Head += row.Head
	}
	for i := range c.Rows {
		if row := &c.Rows[i]; c.Head != c.Base {
			row.Share = new((row.Head - row.Base) / (c.Head - c.Base))
		}
	}
}

// OperatorChangeFields returns the columns of OperatorChanges.Rows.
func OperatorChangeFields() []answer.Field[OperatorChange] {
	time := func(name, meaning string, of func(*OperatorChange) float64) answer.Field[OperatorChange] {
		return answer.NewField(name, answer.TypeReal, meaning, func(o *OperatorChange) any { return answer.Computed(of(o)) }).In("ns")
	}
	count := func(name, meaning string, of func(*OperatorChange) *float64) answer.Field[OperatorChange] {
		return answer.NewField(name, answer.TypeReal, meaning, func(o *OperatorChange) any { return answer.Value(of(o)) })
	}
	return []answer.Field[OperatorChange]{
		answer.TextField("operator", "name of the operator or kernel without template arguments", func(o *OperatorChange) string { return o.Operator }),
		answer.TextField("state", "same (within 2 % of the base), slower, faster, appeared or vanished; no verdict", func(o *OperatorChange) string { return string(o.State) }),
		time("base", "time on the base, of one iteration if it is known how many were profiled, summed over the points; 0 if the base lacks it", func(o *OperatorChange) float64 { return o.Base }),
		time("head", "time on the head", func(o *OperatorChange) float64 { return o.Head }),
		time("change", "head - base; all changes add up to that of the total", func(o *OperatorChange) float64 { return o.Head - o.Base }),
		count("share", "share of the change of the total", func(o *OperatorChange) *float64 { return o.Share }),
		count("base_count", "number of executions on the base", func(o *OperatorChange) *float64 { return o.BaseCount }),
		count("head_count", "number of executions on the head", func(o *OperatorChange) *float64 { return o.HeadCount }),
	}
}

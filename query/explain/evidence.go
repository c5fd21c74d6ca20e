package explain

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/facts"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/sides"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// point adds the row of the point itself.
func (x *explaining) point() {
	row := x.Comparison.Rows[0]
	at := func(name string) any { return row[x.Comparison.Index(name)] }
	id := at("head_point_id")
	if id == nil {
		id = at("base_point_id")
	}
	x.Rows = append(x.Rows, x.row(int64(0), []any{
		string(Point), id, numberText(at("base")), numberText(at("head")), at("change"), at("low"), at("high"),
		at("unit"), at("scale"), nil, at("verdict"),
	}, []any{at("p"), at("p_adjusted")}))
}

// facts adds the facts in which the sides differ.
func (x *explaining) facts(differs []facts.Difference) {
	for _, d := range differs {
		if x.req.Silent == nil || !x.req.Silent(d) {
			x.add(factTiers[d.Kind], 0, []any{string(d.Kind), d.Name, listed(d.Base), listed(d.Head), nil, nil, nil, nil, nil, nil, nil})
		}
	}
}

// listed are the values of a fact as one text; NULL where there are none.
func listed(values []string) any { return answer.Text(strings.Join(values, ", ")) }

func (x *explaining) add(tier int, size float64, row []any) {
	x.evidence = append(x.evidence, evidence{tier: tier, size: size, row: row})
}

// addTested adds a metric or a stage, of which a test says how likely no difference is.
func (x *explaining) addTested(tier int, size float64, p any, row []any) {
	x.evidence = append(x.evidence, evidence{tier: tier, size: size, p: p, row: row})
}

// metrics adds other metrics of the same runs.
func (x *explaining) metrics(c compare.Comparison) {
	for _, row := range c.Rows {
		at := func(name string) any { return row[c.Index(name)] }
		verdict, name := judge.Verdict(duck.Text(at("verdict"))), duck.Text(at("metric"))
		tier := unranked
		if changed(verdict) {
			tier = tierMetric
			if name == metricClock {
				tier = tierHardware
			}
		}
		base, _ := at("base").(float64)
		change, _ := at("change").(float64)
		size := math.Abs(change)
		if at("scale") == string(schema.ScaleRatio) {
			size = math.Abs(math.Log1p(change))
		} else if base != 0 {
			size = math.Abs(change / base)
		}
		x.addTested(tier, size, at("p"), []any{
			string(Metric), name, numberText(at("base")), numberText(at("head")), at("change"), at("low"), at("high"),
			at("unit"), at("scale"), nil, string(verdict),
		})
	}
}

// metricClock is the metric that says how fast the hardware ran.
const metricClock = "clock_sm"

// changed tells whether a verdict is one of a change.
func changed(v judge.Verdict) bool {
	return v == judge.Regressed || v == judge.Improved || v == judge.Changed
}

// numberText is a number as text, in its stored unit; NULL stays.
func numberText(v any) any {
	if number, ok := v.(float64); ok {
		return schema.CanonicalFloat(number)
	}
	return nil
}

// counts adds of what differs in how many runs of each side have it; where alone is set, only what one side alone has.
func (x *explaining) counts(tier int, kind Kind, seen [2]sideOfPoint, alone bool) {
	of := func(s *sideOfPoint) map[string]int {
		if kind == Status {
			return s.statuses
		}
		return s.warnings
	}
	base, head := of(&seen[0]), of(&seen[1])
	words := slices.Concat(slices.Collect(maps.Keys(base)), slices.Collect(maps.Keys(head)))
	slices.Sort(words)
	for _, word := range slices.Compact(words) {
		if base[word] == head[word] || alone && min(base[word], head[word]) > 0 {
			continue
		}
		row := []any{string(kind), word}
		for i, side := range []map[string]int{base, head} {
			if seen[i].runs == 0 {
				row = append(row, nil)
			} else {
				row = append(row, fmt.Sprintf("%d of %d", side[word], seen[i].runs))
			}
		}
		x.add(tier, float64(max(base[word], head[word])), append(row, nil, nil, nil, "runs", nil, nil, nil))
	}
}

// stages adds what the stages of the same runs took.
func (x *explaining) stages(seen [2]sideOfPoint) {
	var pairs [][]judge.Pair // each on its own, as metrics are
	var names []string
	for _, stage := range explainedStages {
		p := judge.Pair{
			Base: seen[0].stages[string(stage)], Head: seen[1].stages[string(stage)],
			Confounded: x.confounded, Lower: true, DeadZone: math.Log1p(compare.ThresholdFor(x.req.Thresholds, string(stage)).Value),
		}
		if !slices.Equal(x.Comparison.Base.Machines, x.Comparison.Head.Machines) {
			p.Barred = judge.Machines
		}
		if p.Runs() > 0 {
			pairs, names = append(pairs, []judge.Pair{p}), append(names, string(stage))
		}
	}
	for i, j := range judge.JudgeAll(pairs, x.req.Rules) {
		o, tier := j.Outcomes[0], unranked
		if changed(o.Verdict) {
			tier = tierStage
		}
		level := func(logs []float64) any { return schema.CanonicalFloat(math.Round(math.Exp(sides.Middle(logs)))) }
		x.addTested(tier, math.Abs(o.Change.Value), o.P, []any{
			string(Stage), names[i], level(pairs[i][0].Base), level(pairs[i][0].Head),
			answer.Real(schema.ScaleRatio.Change(o.Change.Value)), answer.Real(schema.ScaleRatio.Change(o.Change.Low)), answer.Real(schema.ScaleRatio.Change(o.Change.High)),
			"ns", string(schema.ScaleRatio), nil, string(o.Verdict),
		})
	}
}

// ops adds the operators of profiled runs, where both sides have some.
func (x *explaining) ops(seen [2]sideOfPoint) {
	base, head := seen[0].ops, seen[1].ops
	if len(base) == 0 || len(head) == 0 {
		return
	}
	all := map[opKey]float64{}
	total, took := 0.0, 0.0
	for _, side := range []map[opKey][]float64{base, head} {
		for key := range side {
			all[key] = 0
		}
	}
	for key := range all {
		was, is := 0.0, 0.0
		if len(base[key]) > 0 {
			was = sides.Middle(base[key])
		}
		if len(head[key]) > 0 {
			is = sides.Middle(head[key])
		}
		all[key] = is - was
		total, took = total+is-was, took+was
	}
	for _, key := range slices.SortedFunc(maps.Keys(all), func(a, b opKey) int {
		return strings.Compare(a.name+"\x00"+a.kind, b.name+"\x00"+b.kind)
	}) {
		x.op(key, [2][]float64{base[key], head[key]}, opDifference{all[key], total, took})
	}
}

// opDifference is that of an op, that of all ops, and what all of them took on the base, in ns.
type opDifference struct{ op, total, took float64 }

// mostOfOps is the share of the difference of all ops that makes one of them come first.
const mostOfOps = .1

// op adds an operator.
func (x *explaining) op(key opKey, values [2][]float64, d opDifference) {
	share := any(nil)
	tier := tierOp
	if d.total != 0 {
		share = d.op / d.total
		if d.op/d.total >= mostOfOps {
			tier = tierMostOfOps
		}
	}
	if math.Abs(d.op) < judge.DefaultThreshold*d.took || d.op == 0 {
		tier = unranked
	}
	level := func(values []float64) any {
		if len(values) == 0 {
			return nil
		}
		return schema.CanonicalFloat(sides.Middle(values))
	}
	name := key.name
	if key.kind != "" && key.kind != key.name {
		name += " (" + key.kind + ")"
	}
	x.add(tier, math.Abs(d.op), []any{
		string(Op), name, level(values[0]), level(values[1]), answer.Real(d.op), nil, nil, "ns", string(schema.ScaleDifference), share, nil,
	})
}

package compare

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// point adds the row of the point itself.
func (x *explaining) point() {
	point := x.row()
	row := compared(ExplainPoint, cmp.Or(point.HeadID, point.BaseID), point)
	row.Rank, row.Verdict = new(int64(0)), string(point.Verdict)
	if e := point.Estimates; e != nil {
		row.P, row.Adjusted = &e.P, &e.Adjusted
	}
	x.Rows = append(x.Rows, row)
}

// compared is a row of a comparison as one of an explanation.
func compared(kind Evidence, name string, r *Row) ExplainRow {
	row := ExplainRow{Kind: string(kind), Name: name, Base: sideValue(r.Base), Head: sideValue(r.Head), Unit: r.Unit, Scale: r.Scale, Verdict: string(r.Verdict)}
	if e := r.Estimates; e != nil {
		row.Estimate = &EvidenceEstimate{e.Change, e.Low, e.High}
	}
	return row
}

// sideValue is the value of a side; the zero value if there is none.
func sideValue(m *Measured) EvidenceValue {
	if m == nil || m.Value == nil {
		return EvidenceValue{}
	}
	return number(*m.Value)
}

// facts adds the facts that differ between the sides.
func (x *explaining) facts(differs []query.FactDifference) {
	for _, d := range differs {
		if !x.req.Facts.Silent(d) || throttledApart(d) {
			x.fact(d)
		}
	}
}

// throttledApart reports whether the clock of a GPU was lowered for other reasons in every run of one side than in any run of the other.
// Other states of a run differ by chance, and are left to contrasts.
func throttledApart(d query.FactDifference) bool {
	if !strings.HasPrefix(d.Name, "env.gpu.") || !strings.HasSuffix(d.Name, ".throttle") || len(d.Base) == 0 || len(d.Head) == 0 {
		return false
	}
	return !slices.ContainsFunc(d.Base, func(reasons string) bool { return slices.Contains(d.Head, reasons) })
}

func (x *explaining) fact(d query.FactDifference) {
	x.add(factTiers[d.Kind], 0, ExplainRow{Kind: string(d.Kind), Name: d.Name, Base: EvidenceValue{Texts: d.Base}, Head: EvidenceValue{Texts: d.Head}})
}

func (x *explaining) add(tier int, size float64, row ExplainRow) {
	x.evidence = append(x.evidence, evidence{ExplainRow: row, tier: tier, size: size})
}

// addTested adds a metric or a stage whose P is from a test.
func (x *explaining) addTested(tier int, size float64, row ExplainRow) {
	x.evidence = append(x.evidence, evidence{ExplainRow: row, tier: tier, size: size, test: true})
}

// metrics adds other metrics of the same runs.
func (x *explaining) metrics(c Comparison) {
	for i := range c.Rows {
		r := &c.Rows[i]
		tier := unranked
		if changed(r.Verdict) {
			tier = tierMetric
			if r.Metric == metricClock {
				tier = tierHardware
			}
		}
		row := compared(MetricEvidence, r.Metric, r)
		if r.Estimates != nil {
			row.P = &r.Estimates.P
		}
		x.addTested(tier, sizeOf(r), row)
	}
}

// sizeOf is the size of the change of a metric: the absolute logarithm of the ratio, or the difference as a share of the base; 1 from 0.
func sizeOf(r *Row) float64 {
	if r.Estimates == nil {
		return 0
	}
	change := r.Estimates.Change
	switch {
	case r.Scale == schema.ScaleRatio:
		return math.Abs(math.Log1p(change))
	case r.Base == nil || r.Base.Value == nil:
		return math.Abs(change)
	case *r.Base.Value == 0:
		return min(math.Ceil(math.Abs(change)), 1)
	}
	return math.Abs(change / *r.Base.Value)
}

// metricClock is the metric of the clock rate of the hardware.
const metricClock = "clock_sm"

// changed reports whether a verdict is a change.
func changed(v judge.Verdict) bool {
	return v == judge.Regressed || v == judge.Improved || v == judge.Changed
}

// counts adds the warnings or statuses that different numbers of runs of the two sides have. If alone is set, it only adds those that
// one side does not have at all.
func (x *explaining) counts(tier int, kind Evidence, seen [2]sideOfPoint, alone bool) {
	of := func(s *sideOfPoint) map[string]int {
		if kind == StatusEvidence {
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
		row := ExplainRow{Kind: string(kind), Name: word, Unit: "runs"}
		if n := seen[0].runs; n > 0 {
			row.Base = counted(base[word], n)
		}
		if n := seen[1].runs; n > 0 {
			row.Head = counted(head[word], n)
		}
		x.add(tier, float64(max(base[word], head[word])), row)
	}
}

// stages adds the durations of the stages of the same runs.
func (x *explaining) stages(seen [2]sideOfPoint) {
	var pairs [][]judge.Pair // one family each, like metrics
	var names []string
	for _, stage := range explainedStages {
		p := judge.Pair{
			Base: seen[0].stages[string(stage)], Head: seen[1].stages[string(stage)],
			Confounded: x.confounded, Lower: true, DeadZone: math.Log1p(x.req.Thresholds.For(string(stage)).Value),
		}
		if !slices.Equal(x.Comparison.Base.Machines, x.Comparison.Head.Machines) {
			p.Barred = judge.Machines
		}
		if p.Runs() > 0 {
			pairs, names = append(pairs, []judge.Pair{p}), append(names, string(stage))
		}
	}
	for i, j := range judge.Judge(pairs, x.req.Rules) {
		o, tier := j.Outcomes[0], unranked
		if changed(o.Verdict) {
			tier = tierStage
		}
		level := func(logs []float64) EvidenceValue { return number(math.Round(math.Exp(medianOf(logs)))) }
		change := schema.ScaleRatio.Change
		x.addTested(tier, math.Abs(o.Change.Value), ExplainRow{
			Kind: string(StageEvidence), Name: names[i], Base: level(pairs[i][0].Base), Head: level(pairs[i][0].Head),
			Estimate: &EvidenceEstimate{change(o.Change.Value), change(o.Change.Low), change(o.Change.High)},
			Unit:     "ns", Scale: schema.ScaleRatio, Verdict: string(o.Verdict), P: &o.P,
		})
	}
}

// ops adds the operators of profiled runs, if both sides have some.
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
			was = medianOf(base[key])
		}
		if len(head[key]) > 0 {
			is = medianOf(head[key])
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

// opDifference has the difference of an op, the difference of all ops, and the sum of all ops on the base and the head, in ns.
type opDifference struct{ op, total, took float64 }

// majorOp is the share of the difference of all ops from which on an op is in the tier of major ops.
const majorOp = .1

// op adds an operator.
func (x *explaining) op(key opKey, values [2][]float64, d opDifference) {
	var share *float64
	tier := tierOp
	if d.total != 0 {
		share = new(d.op / d.total)
		if *share >= majorOp {
			tier = tierMajorOp
		}
	}
	if math.Abs(d.op) < judge.DefaultThreshold*d.took || d.op == 0 {
		tier = unranked
	}
	level := func(values []float64) EvidenceValue {
		if len(values) == 0 {
			return EvidenceValue{}
		}
		return number(medianOf(values))
	}
	name := key.name
	if key.kind != "" && key.kind != key.name {
		name += " (" + key.kind + ")"
	}
	x.add(tier, math.Abs(d.op), ExplainRow{
		Kind: string(OpEvidence), Name: name, Base: level(values[0]), Head: level(values[1]),
		Estimate: &EvidenceEstimate{d.op, math.NaN(), math.NaN()}, Unit: "ns", Scale: schema.ScaleDifference, Share: share,
	})
}

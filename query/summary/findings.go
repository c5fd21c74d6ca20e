package summary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/judge"
)

// Finding is the result of a rule. Each warning of runs is also a rule, with the same name.
type Finding struct {
	Rule     string    `json:"rule" doc:"name of the rule, which docs/reports.md explains, or a warning of runs"`
	Points   int       `json:"points" doc:"number of entries in points, or of pairs of a comparison, that it concerns"`
	Runs     int       `json:"runs" doc:"number of runs that it concerns"`
	Group    Text      `json:"group" doc:"group that it concerns; null: all"`
	Values   []string  `json:"values" doc:"values or names that it concerns"`
	Numbers  []Number  `json:"numbers" doc:"numbers that the rule is based on"`
	Examples []Subject `json:"examples" doc:"points that show it most clearly, at most 3"`
}

// Number is a number that a rule is based on.
type Number struct {
	Name  string   `json:"name" doc:"name of the number"`
	Value *float64 `json:"value" doc:"value"`
	Unit  Text     `json:"unit" doc:"unit; null if there is none"`
}

// The rules of findings.
const (
	RuleWrongResult   = "wrong_result"   // the result of a run is wrong
	RuleFailed        = "failed"         // a run failed, and not because its result is wrong
	RuleSlower        = "slower"         // a point is slower than its baseline
	RuleRegressed     = "regressed"      // compare says that a point regressed
	RuleExtreme       = "extreme_ratio"  // a speed-up is so large or small that the sides may not do the same work
	RuleNotCompared   = "not_compared"   // a point with a baseline has neither a speed-up nor a difference
	RuleNoVerdict     = "no_verdict"     // a comparison has no verdict or is inconclusive
	RuleImproved      = "improved"       // compare says that a point improved
	RuleNoBaseline    = "no_baseline"    // a point has several variants or backends, and no baseline is named
	RuleFewRuns       = "few_runs"       // too few runs for a verdict
	RuleNoisyRuns     = "noisy_runs"     // the medians of a point's runs vary a lot
	RuleMixedMetric   = "mixed_metric"   // runs of a point have different metrics or units
	RuleHardware      = "mixed_hardware" // runs of a point have different GPUs or processor models
	RuleMissingMetric = "missing_metric" // some points of a group lack a metric that most of them have
	RuleMachines      = "mixed_machines" // the runs are from several machines
	RuleNoMachine     = "no_machine"     // the machine of some runs is unknown
	RuleEnvironment   = "mixed_facts"    // the runs have different hardware, software or code
	RuleDirty         = "uncommitted"    // the code has uncommitted changes

	RuleLevelRegressed = "regressed_over_sessions" // the last change of a level over sessions is for the worse
	RuleLevelImproved  = "improved_over_sessions"  // it is for the better
	RuleFarOff         = "far_off"                 // the newest sessions are far off the level
	RuleFailsLately    = "fails_lately"            // all runs of a point failed in its newest sessions
)

// Limits of the rules.
const (
	// extreme is a speed-up that is rarely real: something that is 100 times as fast has usually skipped some of the work.
	extreme = 100
	// noisyRuns is the robust spread of the medians of runs from which on they are called noisy: a change of 10 % is then within
	// the normal variation of runs.
	noisyRuns = .1
	// minRuns is the number of runs per side that a verdict needs.
	minRuns = 3
	// maxExamples is the number of example points of a finding.
	maxExamples = 3
)

// findings applies the rules, the most serious first.
func (r *reading) findings() []Finding {
	all := []Finding{}
	add := func(found ...Finding) { all = append(all, found...) }
	add(r.badRuns()...)
	add(r.trendFindings()...)
	for i := range r.report.Comparisons {
		add(ofComparison(&r.report.Comparisons[i])...)
	}
	add(r.baselineMissing()...)
	add(r.ofPoints()...)
	add(r.missingMetrics()...)
	add(r.ofEnvironment()...)
	add(r.warnings()...)
	return all
}

// pick makes a finding about the points for which runs is positive; none if there are no such points. weight sorts the examples,
// largest first; nil: in the order of the points.
func (r *reading) pick(rule string, runs func(p *Point) int, weight func(p *Point) float64) []Finding {
	f := Finding{Rule: rule}
	var places []int
	for i := range r.report.Points {
		if n := runs(&r.report.Points[i]); n > 0 {
			f.Points, f.Runs = f.Points+1, f.Runs+n
			places = append(places, i)
		}
	}
	if f.Points == 0 {
		return nil
	}
	if weight != nil {
		slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(weight(&r.report.Points[b]), weight(&r.report.Points[a])) })
	}
	for _, i := range places[:min(len(places), maxExamples)] {
		f.Examples = append(f.Examples, r.report.Points[i].Subject)
	}
	return []Finding{f}
}

// badRuns returns the findings about wrong results and failed runs.
func (r *reading) badRuns() []Finding {
	wrong := r.pick(RuleWrongResult, func(p *Point) int { return p.Wrong }, nil)
	failed := r.pick(RuleFailed, func(p *Point) int { return p.failed() - p.Wrong }, nil)
	for i := range failed {
		failed[i].Numbers = []Number{count("runs", r.report.Counts.Runs)}
	}
	return append(wrong, failed...)
}

// ofPoints returns the findings about the measurements of points.
func (r *reading) ofPoints() []Finding {
	few := r.pick(RuleFewRuns, func(p *Point) int {
		if p.OKRuns >= minRuns {
			return 0
		}
		return p.OKRuns
	}, nil)
	for i := range few {
		few[i].Numbers = []Number{count("least", minRuns)}
	}
	spread := func(p *Point) float64 {
		if v := p.primary(); v != nil && v.RunsSpread != nil {
			return *v.RunsSpread
		}
		return 0
	}
	noisy := r.pick(RuleNoisyRuns, func(p *Point) int {
		if spread(p) <= noisyRuns {
			return 0
		}
		return p.OKRuns
	}, spread)
	for i := range noisy {
		largest := 0.
		for k := range r.report.Points {
			largest = max(largest, spread(&r.report.Points[k]))
		}
		noisy[i].Numbers = []Number{{"threshold", known(noisyRuns), "ratio"}, {"largest", known(largest), "ratio"}}
	}
	mixed := r.pick(RuleMixedMetric, func(p *Point) int {
		if !p.mixed {
			return 0
		}
		return p.OKRuns
	}, nil)
	varied := r.pick(RuleHardware, func(p *Point) int {
		if !p.varied {
			return 0
		}
		return p.OKRuns
	}, nil)
	return slices.Concat(few, noisy, mixed, varied)
}

// missingMetrics returns the findings about metrics that most points of a group have, but some points with ok runs lack. Metrics that the
// same points lack are one finding.
func (r *reading) missingMetrics() (all []Finding) {
	at := 0
	for _, g := range r.report.Groups {
		own := r.report.Points[at : at+g.Rows]
		at += g.Rows
		first := len(all)
		for _, metric := range g.Metrics {
			f, ok := lacking(own, metric)
			if f.Group = g.Name; !ok {
				continue
			}
			same := slices.IndexFunc(all[first:], func(other Finding) bool {
				return other.Points == f.Points && other.Runs == f.Runs && slices.EqualFunc(other.Examples, f.Examples, func(a, b Subject) bool { return a.PointID == b.PointID })
			})
			if same >= 0 {
				all[first+same].Values = append(all[first+same].Values, metric)
			} else {
				all = append(all, f)
			}
		}
	}
	return all
}

// lacking finds the points of a group that lack a metric; ok is false unless at least half of the points have it.
func lacking(points []Point, metric string) (f Finding, ok bool) {
	f = Finding{Rule: RuleMissingMetric, Values: []string{metric}}
	has := 0
	for i := range points {
		switch p := &points[i]; {
		case p.OKRuns == 0:
		case p.value(metric) != nil:
			has++
		default:
			f.Points, f.Runs = f.Points+1, f.Runs+p.OKRuns
			if len(f.Examples) < maxExamples {
				f.Examples = append(f.Examples, p.Subject)
			}
		}
	}
	f.Numbers = []Number{count("points_with_it", has)}
	return f, f.Points > 0 && has >= f.Points
}

// value returns the value of a metric of a point; nil if it has none.
func (p *Point) value(metric string) *Value {
	for i := range p.Metrics {
		if v := &p.Metrics[i]; v.Metric == metric && v.Median != nil {
			return v
		}
	}
	return nil
}

// settings are the facts, in addition to the machine, that should be equal in all runs of a report.
var settings = []string{"os", "os_kernel", "cpu_model", "cpu_count", "memory_bytes", "gpu_name", "gpu_count", "driver_version", "cuda_version", "python_version", "git_commit"}

// ofEnvironment returns the findings about the environment of the runs.
func (r *reading) ofEnvironment() (all []Finding) {
	for _, fact := range r.report.Environment {
		f := Finding{Points: r.report.Counts.Rows, Runs: r.report.Counts.Runs, Values: valuesOf(fact), Numbers: []Number{count("values", len(fact.Values))}}
		switch {
		case fact.Name == "machine" && len(fact.Values) > 1:
			f.Rule = RuleMachines
			all = append(all, f)
		case slices.Contains(settings, fact.Name) && len(fact.Values) > 1:
			f.Rule, f.Values = RuleEnvironment, append([]string{fact.Name}, f.Values...)
			all = append(all, f)
		case fact.Name == "git_dirty":
			for _, v := range fact.Values {
				if v.Value == "true" {
					all = append(all, Finding{Rule: RuleDirty, Runs: v.Runs})
				}
			}
		}
		if fact.Name == "machine" && fact.Unknown > 0 {
			found := r.pick(RuleNoMachine, func(p *Point) int {
				if p.Machine != "" {
					return 0
				}
				return p.Runs
			}, nil)
			all = append(all, found...)
		}
	}
	return all
}

// valuesOf returns the values of a fact.
func valuesOf(f Fact) (values []string) {
	for _, v := range f.Values {
		values = append(values, v.Value)
	}
	return values
}

// warnings returns the findings about warnings of runs, the most frequent first.
func (r *reading) warnings() (all []Finding) {
	words := map[string]bool{}
	for i := range r.report.Points {
		for word := range r.report.Points[i].Warnings {
			words[word] = true
		}
	}
	for word := range words {
		of := func(p *Point) int { return p.Warnings[word] }
		all = append(all, r.pick(word, of, func(p *Point) float64 { return float64(of(p)) })...)
	}
	slices.SortFunc(all, func(a, b Finding) int { return cmp.Or(b.Runs-a.Runs, cmp.Compare(a.Rule, b.Rule)) })
	return all
}

// baselineMissing returns the finding about variants or backends without a known baseline.
func (r *reading) baselineMissing() []Finding {
	if slices.ContainsFunc(r.report.Comparisons, func(c Comparison) bool { return c.From != FromSides && c.From != FromSelections }) {
		return nil
	}
	for _, axis := range []string{"variant", "backend"} {
		values := r.rivals(axis)
		if len(values) < 2 {
			continue
		}
		f := Finding{Rule: RuleNoBaseline, Points: r.report.Counts.Rows, Runs: r.report.Counts.Runs, Values: []string{axis}, Numbers: []Number{count("values", len(values))}}
		f.Values = append(f.Values, values...)
		return []Finding{f}
	}
	return nil
}

// rivals returns the values of an axis among points that differ in nothing else.
func (r *reading) rivals(axis string) []string {
	known := map[string]map[string]bool{}
	for i := range r.report.Points {
		p := r.report.Points[i].Subject
		value, ok := p.AxisValue(axis)
		if !ok {
			continue
		}
		p.Backend = ""
		if axis == "variant" { // each may have a backend of its own
			p.Variant = ""
		}
		key := fmt.Sprintf("%q %q %q %q %v %v %v %q %q", p.Benchmark, p.Variant, p.Model, p.Precision, answer.Integer(p.BatchSize), answer.Integer(p.SeqLen), p.Params, p.Machine, p.Side)
		if known[key] == nil {
			known[key] = map[string]bool{}
		}
		known[key][value] = true
	}
	all := map[string]bool{}
	for _, values := range known {
		if len(values) > 1 {
			maps.Copy(all, values)
		}
	}
	return slices.SortedFunc(maps.Keys(all), Naturally)
}

// ofComparison returns the findings about the pairs of a comparison.
func ofComparison(c *Comparison) (all []Finding) {
	name := c.Name()
	if c.From == FromSides { // as a filter has it
		name = c.Axis + "=" + c.Baseline
	}
	pick := func(rule string, numbers []Number, holds func(p *Pair) bool) {
		f := Finding{Rule: rule, Values: []string{name}, Numbers: numbers}
		var places []int
		for i := range c.pairs {
			if holds(&c.pairs[i]) {
				places = append(places, i)
				f.Points, f.Runs = f.Points+1, f.Runs+c.pairs[i].Runs
			}
		}
		slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(sizeOf(c.pairs[b].Speedup), sizeOf(c.pairs[a].Speedup)) })
		for _, i := range places[:min(len(places), maxExamples)] {
			example := c.pairs[i].Subject
			if c.From == FromSelections { // a pair has both sides
				example.Side = ""
			}
			f.Examples = append(f.Examples, example)
		}
		if f.Points > 0 {
			all = append(all, f)
		}
	}
	speedup := func(p *Pair) bool { return p.Speedup != nil && !p.Control }
	measured := func(p *Pair) bool { return speedup(p) || p.Difference != nil && !p.Control }
	compared, regressed, both := map[*Pair]bool{}, 0, 0
	for _, i := range c.compared(c.places()) {
		if compared[&c.pairs[i]] = true; c.pairs[i].Verdict == string(judge.Regressed) {
			regressed++
		}
	}
	for i := range c.pairs {
		if measured(&c.pairs[i]) {
			both++
		}
	}
	pick(RuleRegressed, nil, func(p *Pair) bool { return p.Verdict == string(judge.Regressed) && !p.Control })
	pick(RuleSlower, []Number{count("compared", c.All.Compared), count("regressed", regressed), {"geometric_mean", c.All.GeometricMean, "ratio"}, {"median", c.All.Median, "ratio"}},
		func(p *Pair) bool { return compared[p] && *p.Speedup < 1 })
	pick(RuleExtreme, []Number{{"threshold", known(extreme), "ratio"}}, func(p *Pair) bool { return speedup(p) && (*p.Speedup >= extreme || *p.Speedup <= 1./extreme) })
	pick(RuleNotCompared, []Number{count("pairs", c.All.Pairs)}, func(p *Pair) bool { return p.Speedup == nil && p.Difference == nil && !p.Control })
	open := []Number{count("compared", both), count("estimate", c.Verdicts[string(judge.Estimate)]), count("inconclusive", c.Verdicts[string(judge.Inconclusive)])}
	pick(RuleNoVerdict, open, func(p *Pair) bool {
		return measured(p) && (p.Verdict == string(judge.Estimate) || p.Verdict == string(judge.Inconclusive))
	})
	pick(RuleImproved, nil, func(p *Pair) bool { return p.Verdict == string(judge.Improved) && !p.Control })
	return all
}

// sizeOf returns how far a speed-up is from 1, in either direction.
func sizeOf(speedup *float64) float64 {
	if speedup == nil {
		return 0
	}
	return max(*speedup, 1 / *speedup)
}

// count makes a Number of a count.
func count(name string, n int) Number { return Number{Name: name, Value: known(float64(n))} }

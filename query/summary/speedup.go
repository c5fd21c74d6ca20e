package summary

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Comparison compares each value of an axis with the baseline, in the primary metric of each point. Pairs and verdicts are those of the
// command compare.
type Comparison struct {
	Axis       string             `json:"axis" doc:"axis that is compared; side: the two sides of bench --against, or two selections"`
	Baseline   string             `json:"baseline" doc:"value of the axis that the others are compared with"`
	From       Origin             `json:"from" doc:"where the baseline comes from: asked (the command line), sweep (the sweep file), variant (a variant called baseline), sides (bench --against), selections (two filters), guess (nobody named one)"`
	Metrics    []string           `json:"metrics" doc:"primary metrics of the points"`
	All        Ratios             `json:"all" doc:"all pairs"`
	Groups     []NamedRatios      `json:"groups" doc:"pairs per group"`
	Benchmarks []NamedRatios      `json:"benchmarks" doc:"pairs per benchmark"`
	Values     []NamedRatios      `json:"values" doc:"pairs per value of the axis"`
	Sets       int                `json:"sets" doc:"number of baselines with at least one speed-up"`
	Wins       map[string]int     `json:"fastest" doc:"per value of the axis, including the baseline: how often it is the fastest; ties count for each"`
	Verdicts   map[string]int     `json:"verdicts" doc:"number of pairs per verdict of compare; the sum is all.pairs"`
	Reasons    map[string]int     `json:"reasons" doc:"number of pairs without a verdict, per reason"`
	Thresholds map[string]float64 `json:"thresholds" doc:"per metric the threshold, as a share of the baseline: smaller changes count as unchanged; only if all pairs of the metric have the same one"`
	Differs    []Difference       `json:"differs" doc:"facts in which two selections differ; empty for other comparisons"`
	Sides      []Period           `json:"sides" doc:"when base and head were measured, and of which commits; empty if the comparison is not of two sides"`
	Best       []BestValue        `json:"best_values" doc:"per value of the axis, including the baseline: where it is the best by verdict, the value that is most often the best first; empty for comparisons of two sides"`
	Undecided  int                `json:"undecided" doc:"number of baselines for which no value is the best by verdict and not all are equal"`
	Equal      int                `json:"equal" doc:"number of baselines for which all values are unchanged by verdict, so that none is the best"`
	Alone      int                `json:"alone" doc:"number of baselines that no value is compared with, because all others failed or are unsupported"`
	Lead       Lead               `json:"lead" doc:"how far the best of all points is ahead, whatever they differ in; its point_id is null if the baseline is no guess, or if the points cannot be ranked"`

	pairs []Pair
	first int // index of the first pair in the pairs of the report
}

// Name returns the name of the baseline.
func (c *Comparison) Name() string {
	if c.Axis == axisSide {
		return "the base"
	}
	return c.Axis + "=" + c.Baseline
}

// Ratios sums up speed-ups. A speed-up is how many times as fast as its baseline a point is; below 1 it is slower. All fields but Pairs and
// Differences are about the pairs that Compared counts.
type Ratios struct {
	Pairs         int      `json:"pairs" doc:"number of points with a baseline; for two selections also points that only one of them has"`
	Compared      int      `json:"compared" doc:"number of these with a speed-up: both sides have a value, all results were checked and are right, and the better direction is known. Of programs and results that they printed, the results alone count"`
	Differences   int      `json:"differences" doc:"number of pairs that are compared by difference and have no speed-up"`
	Slower        int      `json:"slower" doc:"number of compared pairs with a speed-up below 1"`
	Faster        int      `json:"faster" doc:"number of compared pairs with a speed-up above 1"`
	GeometricMean *float64 `json:"geometric_mean" doc:"geometric mean of the speed-ups of the compared pairs, including those below 1"`
	Median        *float64 `json:"median" doc:"median of these speed-ups"`
	FastestPair   *int     `json:"fastest_pair" doc:"index in pairs, from 0, of the compared pair with the largest speed-up"`
	SlowestPair   *int     `json:"slowest_pair" doc:"index of the compared pair with the smallest"`
}

// NamedRatios sums up the pairs with one name.
type NamedRatios struct {
	Name Text `json:"name" doc:"value that the pairs share"`
	Ratios
}

// Pair is a point and its baseline.
type Pair struct {
	Comparison int  `json:"comparison" doc:"index of the comparison in comparisons, from 0"`
	Group      Text `json:"group" doc:"name of the group of the point"`
	Subject
	BaseID   Text     `json:"base_point_id" doc:"id of the baseline point"`
	Metric   Text     `json:"metric" doc:"primary metric"`
	Unit     Text     `json:"unit" doc:"unit of base and value"`
	Better   Text     `json:"better" doc:"lower or higher"`
	Base     *float64 `json:"base" doc:"value of the baseline"`
	Value    *float64 `json:"value" doc:"value of the point"`
	BaseRuns int      `json:"base_runs" doc:"number of ok runs of the baseline"`
	Runs     int      `json:"runs" doc:"number of ok runs of the point"`
	Speedup  *float64 `json:"speedup" doc:"how many times as fast as the baseline the point is; null if unknown"`
	Low      *float64 `json:"speedup_low" doc:"lower end of its confidence interval; null if there are too few runs"`
	High     *float64 `json:"speedup_high" doc:"upper end of that interval"`

	Difference     *float64 `json:"difference" doc:"value - base in the unit, if they are compared by difference: if a value is 0 or less, if the threshold is an amount, and for metrics that may be 0; else null"`
	DifferenceLow  *float64 `json:"difference_low" doc:"lower end of its confidence interval; null if there are too few runs"`
	DifferenceHigh *float64 `json:"difference_high" doc:"upper end of that interval"`

	Confidence *float64 `json:"confidence" doc:"confidence level of the interval, as a ratio: 0.95, or more if growing data were judged several times; null if there is none"`

	Estimator Text `json:"estimator" doc:"paired or pairwise if the medians base and value contradict the change: paired is the median of the differences within blocks, pairwise of the differences of all pairs of runs. run_means if one side has means of several iterations and the other single ones: base, value and change are of the means of the runs. Else null"`

	Verdict string `json:"verdict" doc:"verdict of compare: improved, regressed, unchanged, changed, inconclusive, estimate, failed, unsupported, fixed; for two selections also missing (not on the head) and added (not on the base)"`
	Reason  Text   `json:"reason" doc:"why there is no verdict"`
	Repeats Text   `json:"repeats" doc:"the result of the repeats of a pair without a verdict, because its machine or the difference between sessions is unknown, as repeats_result of compare: differ, alike, or the reason why neither is known. Null with a verdict"`
	Control bool   `json:"control" doc:"whether the sweep marks it as a control, which no change should affect; controls are in no mean"`

	printed bool // it is a result that a program printed
}

// compare adds the comparisons.
func (r *reading) compare(ctx context.Context, db *query.DB, chosen []baseline) error {
	r.report.Comparisons = []Comparison{}
	for _, b := range chosen {
		c, err := r.against(ctx, db.WithoutWarnings(), b)
		if err != nil {
			return err
		}
		if c.Metrics == nil { // no points could be paired
			continue
		}
		r.report.Comparisons, r.report.Pairs = append(r.report.Comparisons, c), append(r.report.Pairs, c.pairs...)
	}
	return nil
}

// against compares points with their baseline.
func (r *reading) against(ctx context.Context, db *query.DB, b baseline) (Comparison, error) {
	c := Comparison{Axis: b.axis, Baseline: b.value, From: b.from, Verdicts: map[string]int{}, Reasons: map[string]int{}, Thresholds: map[string]float64{}, Differs: []Difference{}, first: len(r.report.Pairs)}
	var refused error
	for _, p := range r.comparable() {
		err := r.pair(ctx, db, b, &c, &p)
		if errors.Is(err, query.ErrInput) { // no points of this part could be paired
			refused, err = err, nil
		}
		if err != nil {
			return c, err
		}
	}
	slices.Sort(c.Metrics)
	c.Metrics = slices.Compact(c.Metrics)
	switch {
	case c.Metrics != nil:
	case b.from == FromAsked:
		return c, fmt.Errorf("%w: report: the selection has no point with %s=%s that can be compared with other values", query.ErrInput, b.axis, b.value)
	case b.from == FromSelections:
		return c, refused
	}
	c.pairs = sorted(c.pairs, func(x, y *Pair) int {
		if c := byName(string(x.Group), string(y.Group)); c != 0 {
			return c
		}
		return subjects{}.compare(&x.Subject, &y.Subject)
	})
	for i := range c.pairs {
		p := &c.pairs[i]
		c.Verdicts[p.Verdict]++
		if p.Reason != "" {
			c.Reasons[string(p.Reason)]++
		}
	}
	maps.DeleteFunc(c.Thresholds, func(_ string, t float64) bool { return math.IsNaN(t) })
	c.sum(b.axis)
	c.win(b.axis)
	if b.axis == axisSide {
		c.Sides = r.periods
	} else {
		c.decide(b.axis)
	}
	if b.from == FromGuess {
		return c, r.addLead(ctx, db, &c)
	}
	return c, nil
}

// comparable returns the parts that are compared one by one. If no point is in several parts, it is the whole selection, which is faster.
func (r *reading) comparable() []part {
	if r.overlap {
		return r.parts
	}
	whole := part{groups: map[Text]Text{}}
	for _, p := range r.parts {
		maps.Copy(whole.groups, p.groups)
	}
	return []part{whole}
}

// pair adds the pairs of a part of the selection. It is an ErrInput if no points can be paired.
func (r *reading) pair(ctx context.Context, db *query.DB, b baseline, c *Comparison, of *part) error {
	byRatio := map[string]bool{}
	req := compare.Request{Base: r.filterOf(r.req.Filter, of), Paired: true, Pages: func(rows []compare.Row) error {
		for i := range rows {
			p := pairOf(&rows[i])
			if rows[i].Ratio {
				byRatio[rows[i].Metric] = true
			}
			p.Comparison, p.Group = len(r.report.Comparisons), of.groups[p.PointID]
			if b.axis == axisSide {
				p.Side = headSide
			}
			c.pairs = append(c.pairs, p)
		}
		return nil
	}}
	switch b.from {
	case FromSides:
	case FromSelections:
		req.Base, req.Head, req.Paired = r.filterOf(r.req.Base, of), r.filterOf(r.req.Filter, of), false
	default:
		req.Axis, req.Reference = b.axis, b.reference
	}
	found, err := compare.Compare(ctx, db, req)
	c.Metrics = append(c.Metrics, found.Metrics...)
	for metric := range byRatio {
		c.addThreshold(metric, found.Thresholds)
	}
	if b.from == FromSelections {
		c.addDifferences(found.Differs)
	}
	return err
}

// addThreshold adds the threshold of a metric in a part of the selection; NaN if it differs within the part or from another part.
func (c *Comparison) addThreshold(metric string, part judge.Thresholds) {
	own := math.NaN()
	if t, same := part[metric]; same {
		own = t.Value
	}
	if other, known := c.Thresholds[metric]; known && other != own {
		own = math.NaN()
	}
	c.Thresholds[metric] = own
}

// places returns the places of all pairs.
func (c *Comparison) places() []int {
	all := make([]int, len(c.pairs))
	for i := range all {
		all[i] = i
	}
	return all
}

// sum sums up the speed-ups.
func (c *Comparison) sum(axis string) {
	c.All = c.ratios(c.places())
	c.Groups = c.by(func(p *Pair) Text { return p.Group })
	c.Benchmarks = c.by(func(p *Pair) Text { return p.Benchmark })
	c.Values = c.by(func(p *Pair) Text {
		value, _ := p.AxisValue(axis)
		return Text(value)
	})
}

// win counts, per value of the axis, for how many baselines it is the fastest.
func (c *Comparison) win(axis string) {
	best := map[place]float64{}
	of := func(p *Pair) place { return place{machine: string(p.Machine), point: string(p.BaseID)} }
	each := func(do func(p *Pair)) {
		for i := range c.pairs {
			if p := &c.pairs[i]; p.Speedup != nil && !p.Control {
				do(p)
			}
		}
	}
	each(func(p *Pair) { best[of(p)] = max(best[of(p)], 1, *p.Speedup) })
	c.Sets, c.Wins = len(best), map[string]int{}
	for _, speedup := range best {
		if speedup == 1 {
			c.Wins[c.Baseline]++
		}
	}
	each(func(p *Pair) {
		if *p.Speedup == best[of(p)] {
			value, _ := p.AxisValue(axis)
			c.Wins[value]++
		}
	})
}

// by sums up the pairs per name.
func (c *Comparison) by(name func(p *Pair) Text) (all []NamedRatios) {
	places := map[Text][]int{}
	for i := range c.pairs {
		n := name(&c.pairs[i])
		places[n] = append(places[n], i)
	}
	for n, own := range places {
		all = append(all, NamedRatios{n, c.ratios(own)})
	}
	slices.SortFunc(all, func(a, b NamedRatios) int { return byName(string(a.Name), string(b.Name)) })
	return all
}

// compared returns the places of the pairs whose speed-ups count: controls do not, and neither do programs beside the results that they printed.
func (c *Comparison) compared(places []int) []int {
	var all compare.PrintedFirst[int]
	for _, i := range places {
		if p := &c.pairs[i]; p.Speedup != nil && !p.Control {
			all.Add(i, p.printed)
		}
	}
	return all.Independent()
}

// ratios sums up pairs.
func (c *Comparison) ratios(places []int) Ratios {
	r := Ratios{Pairs: len(places)}
	for _, i := range places {
		if p := &c.pairs[i]; p.Difference != nil && !p.Control {
			r.Differences++
		}
	}
	all := c.compared(places)
	if r.Compared = len(all); r.Compared == 0 {
		return r
	}
	fastest, slowest := all[0], all[0]
	var logs []float64
	for _, i := range all {
		speedup := *c.pairs[i].Speedup
		logs = append(logs, math.Log(speedup))
		switch {
		case speedup < 1:
			r.Slower++
		case speedup > 1:
			r.Faster++
		}
		if speedup > *c.pairs[fastest].Speedup {
			fastest = i
		}
		if speedup < *c.pairs[slowest].Speedup {
			slowest = i
		}
	}
	slices.Sort(logs)
	sum := 0.0
	for _, v := range logs {
		sum += v
	}
	r.GeometricMean, r.Median = known(math.Exp(sum/float64(len(logs)))), known(math.Exp(stat.Quantile(logs, .5)))
	r.FastestPair, r.SlowestPair = new(c.first+fastest), new(c.first+slowest)
	return r
}

// pairOf converts a row of compare.
func pairOf(row *compare.Row) Pair {
	p := Pair{
		Subject: subjectOf(cmp.Or(row.HeadID, row.BaseID), "", row.Identity), BaseID: Text(row.BaseID), Metric: Text(row.Metric), Unit: Text(row.Unit), Better: Text(row.Better),
		Verdict: string(row.Verdict), Reason: Text(row.Reason), Control: row.Control, printed: row.Printed,
	}
	p.Base, p.BaseRuns = sideValue(row.Base)
	p.Value, p.Runs = sideValue(row.Head)
	for _, flag := range []string{compare.FlagPaired, compare.FlagPairwise, compare.FlagRunMeans} {
		if slices.Contains(row.Flags, flag) {
			p.Estimator = Text(flag)
		}
	}
	if row.Repeats != nil {
		p.Repeats = Text(row.Repeats.Result)
	}
	e := row.Estimates
	if e == nil {
		return p
	}
	p.Confidence = known(e.Confidence)
	if !row.Ratio {
		p.Difference, p.DifferenceLow, p.DifferenceHigh = known(e.Change), known(e.Low), known(e.High)
		return p
	}
	switch schema.Better(row.Better) {
	case schema.BetterLower:
		p.Speedup, p.Low, p.High = inverse(e.Change), inverse(e.High), inverse(e.Low)
	case schema.BetterHigher:
		p.Speedup, p.Low, p.High = known(1+e.Change), known(1+e.Low), known(1+e.High) // a bound that is not known is infinite
	}
	return p
}

// inverse returns the speed-up of a change of a metric for which lower is better; nil if it is unknown.
func inverse(change float64) *float64 {
	if math.IsInf(change, 0) {
		return nil
	}
	return known(1 / (1 + change))
}

// sideValue returns what a side has.
func sideValue(m *compare.Measured) (value *float64, runs int) {
	if m == nil {
		return nil, 0
	}
	if m.Value != nil {
		value = known(*m.Value)
	}
	return value, int(m.Runs)
}

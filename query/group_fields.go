package query

import (
	"slices"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// Fields are the columns of the groups: the keys, then all others, except columns with the name of a key.
func (g *Grouping) Fields() []answer.Field[Group] {
	fields := make([]answer.Field[Group], len(g.Keys))
	for i, key := range g.Keys {
		fields[i] = answer.Field[Group]{Column: key, Meaning: "value of this key, which all runs of the group share", Of: func(group *Group) any { return group.Keys[i] }}
	}
	others := slices.Concat(countFields(), metricFields(), rangeFields())
	if g.Best {
		others = slices.Concat(countFields(), metricFields(), bestFields())
	}
	isKey := func(f answer.Field[Group]) bool {
		return slices.ContainsFunc(g.Keys, func(key answer.Column) bool { return key.Name == f.Name })
	}
	return append(fields, slices.DeleteFunc(others, isKey)...)
}

// countFields are the numbers of runs of a group.
func countFields() []answer.Field[Group] {
	count := func(name, meaning string, of func(*Group) int) answer.Field[Group] {
		return groupField(name, answer.TypeInteger, meaning, func(g *Group) any { return int64(of(g)) })
	}
	return []answer.Field[Group]{
		count("points", "number of different points", func(g *Group) int { return g.Points }),
		count("runs", "number of runs that match", func(g *Group) int { return g.Runs }),
		count("ok_runs", "number of measuring runs with status ok; only these are measurements", func(g *Group) int { return g.OKRuns }),
		count("failed_runs", "number of runs with a status other than ok, unsupported or skipped", func(g *Group) int { return g.FailedRuns }),
		count("wrong_runs", "number of failed runs with a wrong result", func(g *Group) int { return g.WrongRuns }),
		groupField("statuses", answer.TypeMap, "number of runs per status", func(g *Group) any { return statusCounts(g.Statuses) }),
	}
}

func statusCounts(statuses map[string]int) any {
	counts := make(map[string]any, len(statuses))
	for status, n := range statuses {
		counts[status] = int64(n)
	}
	return counts
}

// metricFields describe the metric of a group.
func metricFields() []answer.Field[Group] {
	text := func(name, meaning string, of func(*Group) string) answer.Field[Group] {
		return groupField(name, answer.TypeText, meaning, func(g *Group) any { return answer.Text(of(g)) })
	}
	return []answer.Field[Group]{
		text("metric", "metric; NULL if the runs have different ones", func(g *Group) string { return g.Metric }),
		text("unit", "unit of the metric; NULL if the runs have different ones", func(g *Group) string { return g.Unit }),
		text("better", "which direction is better: lower or higher; NULL if unknown, or if the runs differ", func(g *Group) string { return g.Better }),
		text("reason", "why there are no numbers: "+ReasonNoValue+", "+ReasonMixed+" or, with --best, "+ReasonNoDirection+", "+ReasonUnchecked+", "+ReasonRequests+"; NULL if there are some", func(g *Group) string { return g.Reason }),
	}
}

// rangeFields are the numbers over all points of a group.
func rangeFields() []answer.Field[Group] {
	return []answer.Field[Group]{
		inUnit("median", "median of the points' medians, each of which is the plain median of its runs' medians", medianOf),
		inUnit("lowest", "lowest median of a point", func(g *Group) *float64 { return g.Lowest }),
		inUnit("highest", "highest median of a point", func(g *Group) *float64 { return g.Highest }),
		ratio("spread", "how much samples vary within a run: median of the points' spreads (1.4826 MAD / median); runs with one sample are ignored", spreadOf),
	}
}

// bestFields are the columns of the best point.
func bestFields() []answer.Field[Group] {
	field := func(name string, t answer.Type, meaning string, of func(*BestPoint) any) answer.Field[Group] {
		return groupField(name, t, meaning, func(g *Group) any {
			if g.Best == nil {
				return nil
			}
			return of(g.Best)
		})
	}
	fields := []answer.Field[Group]{
		field("point_id", answer.TypeText, "id of the best point", func(p *BestPoint) any { return answer.Text(p.PointID) }),
		field("machine", answer.TypeText, PointMeanings["machine"], func(p *BestPoint) any { return answer.Text(p.Machine) }),
		field("side", answer.TypeText, schema.RunColumn("side").Doc, func(p *BestPoint) any { return answer.Text(p.Side) }),
	}
	for _, c := range answer.ColumnsNamed(IdentityColumns()...) {
		fields = append(fields, field(c.Name, c.Type, PointMeanings[c.Name], func(p *BestPoint) any { return p.Value(c.Name) }))
	}
	return append(fields,
		field("best_runs", answer.TypeInteger, "number of ok runs of the best point that have a value", func(p *BestPoint) any { return int64(p.Runs) }),
		field("samples_min", answer.TypeInteger, "smallest number of samples in such a run", func(p *BestPoint) any { return answer.Value(p.SamplesMin) }),
		field("samples_max", answer.TypeInteger, "largest number of samples in such a run", func(p *BestPoint) any { return answer.Value(p.SamplesMax) }),
		inUnit("median", "plain median of the medians of the best point's runs", medianOf),
		inUnit("p99", "median of the 99th percentiles of the best point's runs; NULL if a run has only one sample", func(g *Group) *float64 {
			if g.Best == nil {
				return nil
			}
			return g.Best.P99
		}),
		ratio("spread", "how much samples vary within a run: median of the runs' robust spreads (1.4826 MAD / median); runs with one sample are ignored", spreadOf))
}

func groupField(name string, t answer.Type, meaning string, of func(*Group) any) answer.Field[Group] {
	return answer.Field[Group]{Column: answer.Column{Name: name, Type: t}, Meaning: meaning, Of: of}
}

// inUnit is a column of numbers in the unit of the row.
func inUnit(name, meaning string, of func(*Group) *float64) answer.Field[Group] {
	f := groupField(name, answer.TypeReal, meaning, func(g *Group) any { return answer.Statistic(of(g)) })
	f.Unit = schema.UnitOfRow
	return f
}

// ratio is a column of computed ratios.
func ratio(name, meaning string, of func(*Group) *float64) answer.Field[Group] {
	f := groupField(name, answer.TypeReal, meaning, func(g *Group) any { return answer.ComputedValue(of(g)) })
	f.Unit = "ratio"
	return f
}

func medianOf(g *Group) *float64 { return g.Median }

func spreadOf(g *Group) *float64 { return g.Spread }

package summary

import (
	"encoding/json"
	"time"

	"github.com/neurolens/neurolens/query/facts"
)

// Text is a text that is null in JSON where it is empty.
type Text string

// MarshalJSON makes null of the empty text.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(t))
}

// Report is what is said of a selection. The tags doc say what each member means: the JSON Schema and the documentation are made of them.
type Report struct {
	Selection   Selection     `json:"selection" doc:"which runs the report is about"`
	Counts      Counts        `json:"counts" doc:"how many runs and points there are"`
	Environment []Fact        `json:"environment" doc:"where the runs were measured, with the number of runs of each value"`
	Groups      []Group       `json:"groups" doc:"parts of the report: the suites, or what --by names"`
	Comparisons []Comparison  `json:"comparisons" doc:"each value of an axis against its baseline"`
	Leaders     []Leaderboard `json:"leaderboards" doc:"the best points, machine by machine and metric by metric"`
	Resources   []Resource    `json:"resources" doc:"memory, energy and power"`
	Failures    []Failure     `json:"failures" doc:"how runs ended that are not ok"`
	Findings    []Finding     `json:"findings" doc:"what rules found in the numbers above"`
	Pairs       []Pair        `json:"pairs" doc:"each point that has a baseline, of each comparison in turn"`
	Points      []Point       `json:"points" doc:"every point, group by group, those that differ in their variant alone next to one another"`
}

// Selection says what a report is about.
type Selection struct {
	Filter   string   `json:"filter" doc:"the filter that chose the runs; empty: all runs"`
	Base     Text     `json:"base" doc:"where two selections are compared, the filter of the first; null: there is one selection"`
	Head     Text     `json:"head" doc:"the filter of the second"`
	By       []string `json:"by" doc:"the keys that make the groups"`
	Metrics  []string `json:"metrics" doc:"the metrics that were asked for; empty: all"`
	Known    []string `json:"known_metrics" doc:"all metrics that any of the runs has"`
	Absent   []string `json:"absent_metrics" doc:"metrics that were asked for and that no run has"`
	Sessions int      `json:"sessions" doc:"number of different sessions"`
	Sweeps   []string `json:"sweeps" doc:"paths of the sweep files that the runs say, of the newest 200 sessions"`
	Since    *Time    `json:"since" doc:"start of the first run, RFC 3339 in UTC"`
	Until    *Time    `json:"until" doc:"start of the last run"`
}

// Time is a time in UTC.
type Time struct{ time.Time }

// Counts count everything. Each run is in one entry of points, so that runs is the sum of theirs.
type Counts struct {
	Runs      int            `json:"runs" doc:"number of runs; the sum of by_status"`
	ByStatus  map[string]int `json:"by_status" doc:"number of runs by how they ended"`
	Measured  int            `json:"measured_runs" doc:"runs that measure"`
	Profiled  int            `json:"profile_runs" doc:"passes of a profiler, which give no numbers here; with measured_runs all runs"`
	Wrong     int            `json:"wrong_results" doc:"runs of status error whose result is wrong"`
	Imported  int            `json:"imported_runs" doc:"runs that were read from files of other tools"`
	MeanOnly  int            `json:"mean_only_runs" doc:"ok runs of which the file gives a mean, and no median"`
	Points    int            `json:"points" doc:"number of different points"`
	Rows      int            `json:"rows" doc:"number of entries of points: a point on two machines, of two sides or in two groups has an entry for each"`
	OKPoints  int            `json:"ok_rows" doc:"entries of points all of whose runs are ok"`
	BadPoints int            `json:"failed_rows" doc:"entries of points with a run that failed"`
	OffPoints int            `json:"other_rows" doc:"entries that are neither: unsupported or skipped; the three add up to rows"`
}

// Fact is what is known of where the runs were measured, as to one column.
type Fact struct {
	Name    string      `json:"name" doc:"the column of runs"`
	Values  []FactValue `json:"values" doc:"its values, the most frequent first"`
	Unknown int         `json:"unknown" doc:"runs of which it is not known"`
}

// FactValue is a value that runs have.
type FactValue struct {
	Value string `json:"value" doc:"the value"`
	Runs  int    `json:"runs" doc:"number of runs that have it"`
}

// Group is a part of the report.
type Group struct {
	Name     Text           `json:"name" doc:"the suite; of runs without one what stands before the first / of their benchmark; with --by the keys and values"`
	Rows     int            `json:"rows" doc:"entries of points"`
	Runs     int            `json:"runs" doc:"number of runs; the sum of by_status"`
	ByStatus map[string]int `json:"by_status" doc:"number of runs by how they ended"`
	Metrics  []string       `json:"metrics" doc:"the metrics that any of its points has: the primary ones first"`
}

// Subject names a point.
type Subject struct {
	PointID   Text              `json:"point_id" doc:"id of the point"`
	Benchmark Text              `json:"benchmark" doc:"the benchmark that was run"`
	Variant   Text              `json:"variant" doc:"its variant"`
	Backend   Text              `json:"backend" doc:"what computes"`
	Model     Text              `json:"model" doc:"the name of the model"`
	Precision Text              `json:"precision" doc:"the type of the model's numbers"`
	BatchSize *int64            `json:"batch_size" doc:"inputs at a time"`
	SeqLen    *int64            `json:"seq_len" doc:"the length of a sequence"`
	Params    map[string]string `json:"params" doc:"other parameters, in their canonical text"`
	Machine   Text              `json:"machine" doc:"the machine it ran on"`
	Side      Text              `json:"side" doc:"base or head, where two selections are compared, or of bench --against"`
}

// Point is what makes the point.
func (s *Subject) Point() facts.Point {
	return facts.Point{
		Benchmark: string(s.Benchmark), Variant: string(s.Variant), Backend: string(s.Backend), Model: string(s.Model), Precision: string(s.Precision),
		BatchSize: s.BatchSize, SeqLen: s.SeqLen, Machine: string(s.Machine), Params: s.Params,
	}
}

// subjectOf names a point.
func subjectOf(id, side string, p facts.Point) Subject {
	return Subject{
		PointID: Text(id), Benchmark: Text(p.Benchmark), Variant: Text(p.Variant), Backend: Text(p.Backend), Model: Text(p.Model), Precision: Text(p.Precision),
		BatchSize: p.BatchSize, SeqLen: p.SeqLen, Params: p.Params, Machine: Text(p.Machine), Side: Text(side),
	}
}

// Point is what the runs of a point came to, on one machine and of one side.
type Point struct {
	Group Text `json:"group" doc:"name of its group"`
	Subject
	Runs       int            `json:"runs" doc:"number of runs; the sum of by_status"`
	OKRuns     int            `json:"ok_runs" doc:"ok runs that measure: those that give numbers"`
	Profiled   int            `json:"profile_runs" doc:"passes of a profiler"`
	ByStatus   map[string]int `json:"by_status" doc:"number of runs by how they ended"`
	Wrong      int            `json:"wrong_results" doc:"runs whose result is wrong"`
	Imported   int            `json:"imported_runs" doc:"runs that were read from files of other tools"`
	MeanOnly   int            `json:"mean_only_runs" doc:"ok runs of which the file gives a mean, and no median"`
	SamplesMin *int64         `json:"samples_min" doc:"the fewest samples of an ok run"`
	SamplesMax *int64         `json:"samples_max" doc:"the most samples of an ok run"`
	Metric     Text           `json:"metric" doc:"the primary metric; null where runs differ in it, or in its unit"`
	Metrics    []Value        `json:"metrics" doc:"what was measured, the primary metric first"`
	Warnings   map[string]int `json:"warnings" doc:"number of runs by word of warning"`
	Ended      []Reason       `json:"reasons" doc:"why runs are not ok, the most frequent first"`
}

// primary is the value of the primary metric; nil where there is none.
func (p *Point) primary() *Value {
	if p.Metric == "" || len(p.Metrics) == 0 || p.Metrics[0].Metric != string(p.Metric) {
		return nil
	}
	return &p.Metrics[0]
}

// Value is what the ok runs of a point came to in a metric.
type Value struct {
	Metric     string   `json:"metric" doc:"the metric"`
	Unit       Text     `json:"unit" doc:"the unit of median and p99"`
	Better     Text     `json:"better" doc:"lower or higher: which values are better"`
	Runs       int      `json:"runs" doc:"ok runs with a value"`
	Median     *float64 `json:"median" doc:"median over the medians of the runs, or their means where a file gives no median; null where runs differ in the unit"`
	P99        *float64 `json:"p99" doc:"median over their 99th percentiles; null where a run has one sample, which has none"`
	Spread     *float64 `json:"spread" doc:"median over their spreads: how much the samples of a run vary, 1.4826 MAD / median; null of runs with one sample"`
	RunsSpread *float64 `json:"runs_spread" doc:"how much the medians of the runs vary, 1.4826 MAD / median; null with fewer than 3 runs"`
}

// Reason is how some runs of a point ended, and why.
type Reason struct {
	Status    string `json:"status" doc:"how they ended"`
	Stage     Text   `json:"stage" doc:"in which stage"`
	ErrorKind Text   `json:"error_kind" doc:"kind of error"`
	Error     Text   `json:"error" doc:"what was wrong"`
	Runs      int    `json:"runs" doc:"number of runs"`
}

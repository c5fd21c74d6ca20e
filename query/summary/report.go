package summary

import (
	"encoding/json"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/schema"
)

// Text is a text that is null in JSON if it is empty.
type Text string

// MarshalJSON prints the empty text as null.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(t))
}

// Report is the contents of a report. The doc tags describe each member; the JSON Schema and the documentation are generated from them.
type Report struct {
	Selection   Selection     `json:"selection" doc:"runs that the report is about"`
	Counts      Counts        `json:"counts" doc:"numbers of runs and points"`
	Environment []Fact        `json:"environment" doc:"where the runs were measured: each fact with the number of runs per value"`
	Groups      []Group       `json:"groups" doc:"groups of the report: the suites, or the values of the keys of --by"`
	Trends      []Trend       `json:"trends" doc:"the primary metric of each point over sessions, what got worse first"`
	OtherTrends []Trend       `json:"other_trends" doc:"series of other points or machines that regressed, fail or are far off their level, as in trends"`
	Comparisons []Comparison  `json:"comparisons" doc:"comparisons of each value of an axis with its baseline"`
	Leaders     []Leaderboard `json:"leaderboards" doc:"best points per machine and metric"`
	Resources   []Resource    `json:"resources" doc:"memory, energy and power"`
	Failures    []Failure     `json:"failures" doc:"runs that are not ok, by how they ended"`
	Findings    []Finding     `json:"findings" doc:"remarks on the numbers above, each found by a rule"`
	Pairs       []Pair        `json:"pairs" doc:"each point with its baseline, comparison by comparison"`
	Points      []Point       `json:"points" doc:"every point, group by group; points that differ only in their variant are next to each other"`

	stored int         // see Stored
	past   int         // see PastSessions
	other  *schema.Run // the newest one of OtherSession; nil if there is none

	amount query.Contrast // see Amount

	series []history.SeriesPoint // see Series
}

// Stored returns the number of runs in the stores by the names of their files, including removed runs.
func (r *Report) Stored() int { return r.stored }

// PastSessions returns the number of sessions in the stores with points of the report, if that is about one session and has no trends; 0 if
// it is unknown.
func (r *Report) PastSessions() int { return r.past }

// OtherSession returns the id of the newest other session with points of the report, if PastSessions counts any, and whether it is later than the
// session of the report.
func (r *Report) OtherSession() (id string, later bool) {
	if r.other == nil {
		return "", false
	}
	return r.other.SessionID, r.Selection.Until != nil && r.other.StartedAt.After(r.Selection.Until.Time)
}

// Amount returns the axis that a report of one session could compare, with the value to compare with, but did not because nobody named it
// and its numbers may be the amount of work, or its functions may do different work; the zero Contrast: there is none.
func (r *Report) Amount() query.Contrast { return r.amount }

// Series returns what the series of the stores are of, if the report is about one session and their history was read.
func (r *Report) Series() []history.SeriesPoint { return r.series }

// Selection describes the runs of a report.
type Selection struct {
	Filter        string   `json:"filter" doc:"filter that selected the runs; empty: all runs"`
	Base          Text     `json:"base" doc:"if two selections are compared, the filter of the base; otherwise null"`
	Head          Text     `json:"head" doc:"if two selections are compared, the filter of the head"`
	By            []string `json:"by" doc:"keys that the groups are made by"`
	Metrics       []string `json:"metrics" doc:"metrics that were requested; empty: all"`
	Known         []string `json:"known_metrics" doc:"all metrics that at least one run has"`
	Absent        []string `json:"absent_metrics" doc:"metrics that were requested but that no run has"`
	Sessions      int      `json:"sessions" doc:"number of sessions; those that continue one another count as one, as in session=last"`
	HistoryFilter string   `json:"history_filter" doc:"filter of the runs in trends: filter or, if that selects one session, one that selects its points in all sessions; empty: all runs"`
	History       int      `json:"history_sessions" doc:"number of sessions in trends, where those that continue one another count each, and those that began at the same time as one; 0 without trends"`
	HistoryNeeds  int      `json:"history_needs" doc:"number of sessions that a series needs for a step in it to be found among the others; 0 without trends"`
	Sweeps        []string `json:"sweeps" doc:"paths of the sweep files of the newest 200 sessions"`
	Unswept       bool     `json:"unswept" doc:"whether some of these sessions have no sweep file"`
	Since         *Time    `json:"since" doc:"start of the first run, RFC 3339 in UTC"`
	Until         *Time    `json:"until" doc:"start of the last run"`

	Tied        int `json:"tied_sessions" doc:"number of sessions in trends that began at the same time as another one of their series: they have no order, so they count as one"`
	TiedStarts  int `json:"tied_starts" doc:"number of starts that they have"`
	Undated     int `json:"undated_runs" doc:"number of ok runs that trends leave out because neither they nor their session have a start time"`
	OtherSeries int `json:"other_series" doc:"if the filter is one session: number of series of at least 8 sessions that are of other points or machines; of those that changed for the worse, other_trends has an entry each. 0 if the history of the store was not read"`

	Unordered bool `json:"unordered" doc:"whether there are enough sessions for a history but none has a start time, so that they have no order"`
}

// Time is a time in UTC.
type Time struct{ time.Time }

// Counts are the totals. Each run is in exactly one entry of points, so runs is the sum over points.
type Counts struct {
	Runs      int            `json:"runs" doc:"number of runs; the sum of by_status"`
	ByStatus  map[string]int `json:"by_status" doc:"number of runs per status"`
	Measured  int            `json:"measured_runs" doc:"number of measuring runs"`
	Profiled  int            `json:"profile_runs" doc:"number of profiler runs, which give no measurements here; measured_runs + profile_runs = runs"`
	Wrong     int            `json:"wrong_results" doc:"number of runs with status error because their result is wrong"`
	Imported  int            `json:"imported_runs" doc:"number of runs imported from files of other tools"`
	MeanOnly  int            `json:"mean_only_runs" doc:"number of ok runs whose file has a mean but no median"`
	Points    int            `json:"points" doc:"number of different points"`
	Rows      int            `json:"rows" doc:"number of entries in points: a point has one entry per machine, side and group"`
	OKPoints  int            `json:"ok_rows" doc:"entries whose runs are all ok"`
	BadPoints int            `json:"failed_rows" doc:"entries with at least one failed run"`
	OffPoints int            `json:"other_rows" doc:"all other entries: unsupported or skipped; ok_rows + failed_rows + other_rows = rows"`
}

// Fact is one column of the environment with its values.
type Fact struct {
	Name    string      `json:"name" doc:"name of the column of runs"`
	Values  []FactValue `json:"values" doc:"values, most frequent first"`
	Unknown int         `json:"unknown" doc:"number of runs for which it is unknown"`
}

// FactValue is a value with its number of runs.
type FactValue struct {
	Value string `json:"value" doc:"value"`
	Runs  int    `json:"runs" doc:"number of runs with this value"`
}

// Group is a group of points.
type Group struct {
	Name     Text           `json:"name" doc:"suite, or for runs without one the part of the benchmark name before the first /; with --by the keys and values"`
	Rows     int            `json:"rows" doc:"number of entries in points"`
	Runs     int            `json:"runs" doc:"number of runs; the sum of by_status"`
	ByStatus map[string]int `json:"by_status" doc:"number of runs per status"`
	Metrics  []string       `json:"metrics" doc:"metrics that at least one of its points has, primary metrics first"`
}

// Subject identifies a point.
type Subject struct {
	PointID   Text              `json:"point_id" doc:"id of the point"`
	Benchmark Text              `json:"benchmark" doc:"name of the benchmark"`
	Variant   Text              `json:"variant" doc:"variant of the benchmark"`
	Backend   Text              `json:"backend" doc:"software that does the work, such as torch or onnxrt"`
	Model     Text              `json:"model" doc:"name of the model"`
	Precision Text              `json:"precision" doc:"number type, such as fp32 or fp16"`
	BatchSize *int64            `json:"batch_size" doc:"inputs per batch"`
	SeqLen    *int64            `json:"seq_len" doc:"sequence length"`
	Params    map[string]string `json:"params" doc:"all other parameters, as canonical text"`
	Machine   Text              `json:"machine" doc:"machine that ran it"`
	Side      Text              `json:"side" doc:"base or head, if two selections are compared, or in a session of bench --against"`
}

// Point converts the subject to query.Point.
func (s *Subject) Point() query.Point {
	return query.Point{
		Benchmark: string(s.Benchmark), Variant: string(s.Variant), Backend: string(s.Backend), Model: string(s.Model), Precision: string(s.Precision),
		BatchSize: s.BatchSize, SeqLen: s.SeqLen, Machine: string(s.Machine), Params: s.Params,
	}
}

// subjectOf converts query.Point to a subject.
func subjectOf(id, side string, p query.Point) Subject {
	return Subject{
		PointID: Text(id), Benchmark: Text(p.Benchmark), Variant: Text(p.Variant), Backend: Text(p.Backend), Model: Text(p.Model), Precision: Text(p.Precision),
		BatchSize: p.BatchSize, SeqLen: p.SeqLen, Params: p.Params, Machine: Text(p.Machine), Side: Text(side),
	}
}

// Point sums up the runs of a point on one machine and one side.
type Point struct {
	Group Text `json:"group" doc:"name of the group of the point"`
	Subject
	Runs       int            `json:"runs" doc:"number of runs; the sum of by_status"`
	OKRuns     int            `json:"ok_runs" doc:"number of measuring runs with status ok; only these are measurements"`
	Profiled   int            `json:"profile_runs" doc:"number of profiler runs"`
	ByStatus   map[string]int `json:"by_status" doc:"number of runs per status"`
	Wrong      int            `json:"wrong_results" doc:"number of runs with a wrong result"`
	Imported   int            `json:"imported_runs" doc:"number of runs imported from files of other tools"`
	MeanOnly   int            `json:"mean_only_runs" doc:"number of ok runs whose file has a mean but no median"`
	SamplesMin *int64         `json:"samples_min" doc:"smallest number of samples in an ok run"`
	SamplesMax *int64         `json:"samples_max" doc:"largest number of samples in an ok run"`
	Metric     Text           `json:"metric" doc:"primary metric; null if the runs have different ones, or different units"`
	Metrics    []Value        `json:"metrics" doc:"measured metrics, primary metric first"`
	Warnings   map[string]int `json:"warnings" doc:"number of runs per warning"`
	Ended      []Reason       `json:"reasons" doc:"why runs are not ok, most frequent first"`

	mixed  bool // ok runs have different primary metrics, or units of it
	varied bool // ok runs have different GPUs or processor models
}

// primary returns the value of the primary metric; nil if there is none.
func (p *Point) primary() *Value {
	if p.Metric == "" || len(p.Metrics) == 0 || p.Metrics[0].Metric != string(p.Metric) {
		return nil
	}
	return &p.Metrics[0]
}

// Value sums up one metric over the ok runs of a point.
type Value struct {
	Metric     string   `json:"metric" doc:"name of the metric"`
	Unit       Text     `json:"unit" doc:"unit of median and p99"`
	Better     Text     `json:"better" doc:"which direction is better: lower or higher"`
	Runs       int      `json:"runs" doc:"number of ok runs with a value"`
	Median     *float64 `json:"median" doc:"median of the runs' medians, or of their means if a file has no median; null if the runs have different units"`
	Low        *float64 `json:"median_low" doc:"lower end of the 95 % confidence interval of the median, from the runs' medians by rank; null with fewer than 6 runs"`
	High       *float64 `json:"median_high" doc:"upper end of the 95 % confidence interval of the median; null with fewer than 6 runs"`
	P99        *float64 `json:"p99" doc:"median of their 99th percentiles; null if a run has only one sample"`
	Spread     *float64 `json:"spread" doc:"how much samples vary within a run: median of the runs' robust spreads (1.4826 MAD / median); null if runs have only one sample"`
	RunsSpread *float64 `json:"runs_spread" doc:"how much the runs' medians vary: robust spread, 1.4826 MAD / median; null with fewer than 3 runs"`
}

// Reason is why some runs of a point are not ok.
type Reason struct {
	Status    string `json:"status" doc:"status of the runs"`
	Stage     Text   `json:"stage" doc:"stage in which they ended"`
	ErrorKind Text   `json:"error_kind" doc:"kind of error"`
	Error     Text   `json:"error" doc:"error message"`
	Runs      int    `json:"runs" doc:"number of runs"`
}

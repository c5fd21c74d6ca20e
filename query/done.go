package query

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema"
)

// doneColumns are what Done reads of a run.
var doneColumns = []string{
	"run_id", "session_id", "resumes", "point_id", "repeat_index", "purpose", "started_at", "status", "error_kind", "executor", "backend_version",
	"model_sha256", "machine", "driver_version", "python_version", "git_commit", "env", "log_median",
	"backend", "batch_size", "seq_len", "precision", "model", "gpu_name", "unit", "p50", "applied",
	"build_ns", "setup_ns", "warmup_ns", "measure_ns", "validate_ns", "teardown_ns", "profile_ns", "metric",
}

// Bounds of Done: how many sessions it gives besides those that they went on from, and among how many of the newest runs
// it looks for them.
const (
	maxDoneSessions = 20
	maxDoneRuns     = 1_000
)

// Done gives the runs of a suite's newest sessions on a machine, at most 20 of those that have one of its newest 1,000
// runs, and of all sessions that these went on from, for a later session to go on from. The newest session is first, its
// newest run first; sessions that are given for being gone on from alone are last. Sessions of two sides are not among
// them: they are compared within themselves. Of a run these are set: the ids, repeat index, purpose, start, status and
// kind of error, executor, stage durations, what a resumed session compares (versions, hashes, the environment), the fields
// of the point with a column but benchmark and variant, what was applied, and the median of the primary metric, also logarithmic.
func (db *DB) Done(ctx context.Context, suite, machine string) ([]schema.Run, error) {
	newest, err := db.List(ctx, ListRequest{
		Filter:  "source=" + schema.SourceNeuroLens + " side=null suite=" + filter.Quote(suite) + " machine=" + filter.Quote(machine),
		Columns: []string{"session_id"}, Limit: maxDoneRuns,
	})
	if err != nil {
		return nil, err
	}
	var sessions []string
	for _, row := range newest.Rows {
		if id, _ := row[0].(string); len(sessions) < maxDoneSessions && id != "" && !slices.Contains(sessions, id) {
			sessions = append(sessions, id)
		}
	}
	var all []schema.Run
	for seen := sessions; len(sessions) > 0; {
		runs, err := db.sessionRuns(ctx, sessions)
		if err != nil {
			return nil, err
		}
		all = append(all, runs...)
		sessions = nil
		for _, run := range runs {
			if run.Resumes != "" && !slices.Contains(seen, run.Resumes) {
				seen, sessions = append(seen, run.Resumes), append(sessions, run.Resumes)
			}
		}
	}
	return all, nil
}

// sessionRuns gives the runs of sessions, session by session.
func (db *DB) sessionRuns(ctx context.Context, sessions []string) ([]schema.Run, error) {
	found, err := db.List(ctx, ListRequest{Filter: "session_id=" + strings.Join(sessions, ","), Columns: doneColumns})
	if err != nil {
		return nil, err
	}
	runs := make([]schema.Run, len(found.Rows))
	for i, row := range found.Rows {
		runs[i] = doneRun(found.Table, row)
	}
	slices.SortStableFunc(runs, func(a, b schema.Run) int {
		return slices.Index(sessions, a.SessionID) - slices.Index(sessions, b.SessionID)
	})
	return runs, nil
}

// doneRun makes a run of a row.
func doneRun(t answer.Table, row []any) schema.Run {
	text := func(name string) string { s, _ := row[t.Index(name)].(string); return s }
	integer := func(name string) *int64 {
		if n, ok := row[t.Index(name)].(int64); ok {
			return &n
		}
		return nil
	}
	run := schema.Run{
		RunID: text("run_id"), SessionID: text("session_id"), Resumes: text("resumes"), PointID: text("point_id"),
		RepeatIndex: integer("repeat_index"), Purpose: schema.Purpose(text("purpose")),
		Status: schema.Status(text("status")), ErrorKind: text("error_kind"), Executor: schema.Executor(text("executor")), BackendVersion: text("backend_version"), ModelSHA256: text("model_sha256"),
		Stages: schema.Stages{
			Build: integer("build_ns"), Setup: integer("setup_ns"), Warmup: integer("warmup_ns"), Measure: integer("measure_ns"),
			Validate: integer("validate_ns"), Teardown: integer("teardown_ns"), Profile: integer("profile_ns"),
		},
		Env: schema.Env{
			Machine: text("machine"), DriverVersion: text("driver_version"), PythonVersion: text("python_version"),
			GitCommit: text("git_commit"), Facts: map[string]string{},
		},
	}
	run.Backend, run.Precision, run.Model, run.Env.GPUName = text("backend"), text("precision"), text("model"), text("gpu_name")
	run.BatchSize, run.SeqLen = integer("batch_size"), integer("seq_len")
	if applied, ok := row[t.Index("applied")].(map[string]any); ok {
		run.Applied = map[string]string{}
		for key, value := range applied {
			run.Applied[key], _ = value.(string)
		}
	}
	run.StartedAt, _ = row[t.Index("started_at")].(time.Time)
	if facts, ok := row[t.Index("env")].(map[string]any); ok {
		for key, value := range facts {
			run.Env.Facts[key], _ = value.(string)
		}
	}
	if location, ok := row[t.Index("log_median")].(float64); ok {
		run.Primary = text("metric")
		m := schema.Metric{Name: run.Primary, Unit: text("unit"), Summary: schema.Summary{LogMedian: &location}}
		if median, ok := row[t.Index("p50")].(float64); ok {
			m.Summary.P50 = &median
		}
		run.Metrics = []schema.Metric{m}
	}
	return run
}

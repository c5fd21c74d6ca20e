package formats

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// mlflow are the formats of MLflow's tracking stores: a SQLite database, and folders mlruns/EXPERIMENT/RUN with a file for each parameter, tag
// and metric. Both give the same runs.
var mlflow = []foreign.Format{
	{
		Name:  "mlflow",
		About: "MLflow: mlflow.db (SQLite), and mlruns/EXPERIMENT/RUN/meta.yaml with params, tags and metrics beside it",
		Level: "a run is a run of MLflow that has ended, a sample is a logged value of a metric",
		Recognize: func(h *foreign.Head) bool {
			return strings.HasPrefix(string(h.Bytes), sqliteMagic) && h.Matches(mlflowTables) || h.Matches(mlflowRunFile)
		},
		Read:  readMLflow,
		Keyed: true,
	},
	{
		Name:  "mlflow-tree",
		About: "MLflow: meta.yaml of an experiment",
		Side:  "read together with its runs",
		Recognize: func(h *foreign.Head) bool {
			return h.Matches(mlflowExperimentFile) && !h.Matches(mlflowRunFile)
		},
	},
}

var (
	mlflowTables         = regexp.MustCompile(`CREATE TABLE "?latest_metrics"?`)
	mlflowRunFile        = regexp.MustCompile(`(?m)^lifecycle_stage: [a-z]+\r?\n(?s:.*)^run_(?:id|uuid): [^\n]+`)
	mlflowExperimentFile = regexp.MustCompile(`(?m)^artifact_location: [^\n]*\n(?s:.*)^lifecycle_stage: `)
)

func readMLflow(in *foreign.Input, out *foreign.Output) error {
	if strings.HasPrefix(string(in.Head.Bytes), sqliteMagic) {
		return readMLflowDatabase(in, out)
	}
	return readMLflowFolder(in, out)
}

// mlflowRun is a run of MLflow.
type mlflowRun struct {
	id, experiment, status, stage string
	start                         foreign.Number // in ms since 1970
	params, tags                  []param
	metrics                       []mlflowMetric
}

// mlflowMetric is a metric with its logged values.
type mlflowMetric struct {
	name   string
	values []mlflowValue
}

type mlflowValue struct {
	at, step int64 // at is in ms since 1970
	value    foreign.Number
}

// add adds a value to the last metric, or begins another one.
func (m *mlflowRun) add(metric string, value mlflowValue) {
	if n := len(m.metrics); n == 0 || m.metrics[n-1].name != metric {
		m.metrics = append(m.metrics, mlflowMetric{name: metric})
	}
	last := &m.metrics[len(m.metrics)-1]
	last.values = append(last.values, value)
}

// mlflowStatuses are the statuses of runs that have ended.
var mlflowStatuses = map[string]schema.Status{"FINISHED": schema.StatusOK, "FAILED": schema.StatusError, "KILLED": schema.StatusCancelled}

// yield yields a run. One that has not ended is left out, because it would be stored as it is now and again as it ends.
func (m *mlflowRun) yield(out *foreign.Output) error {
	where := "run " + m.id
	status, ended := mlflowStatuses[m.status]
	switch {
	case m.stage == "deleted":
		out.LeaveOut("deleted runs", 1)
		return nil
	case m.status == "RUNNING" || m.status == "SCHEDULED":
		out.LeaveOut("runs that have not ended", 1)
		return nil
	case !ended:
		return out.RefuseMismatch(refusal(where, "the status %q is none of MLflow", m.status))
	case status == schema.StatusOK && len(m.metrics) == 0:
		out.LeaveOut("finished runs without metrics", 1)
		return nil
	}
	r := schema.Run{Benchmark: m.experiment, Status: status}
	if status != schema.StatusOK {
		r.Stage, r.ErrorKind, r.Error = schema.StageMeasure, "mlflow", "MLflow has the status "+m.status
	}
	foreign.SetFact(&r, "source.run_id", m.id)
	if at := m.start.Int64(); at != nil {
		foreign.SetStart(&r, time.UnixMilli(*at), schema.TimeClock)
	}
	for _, p := range m.params {
		if !foreign.Secret(p.name) {
			foreign.SetParam(&r, p.name, p.text)
		}
	}
	for _, t := range m.tags {
		m.describe(&r, t)
	}
	for _, metric := range m.metrics {
		if err := metric.addTo(&r); err != nil {
			out.Refuse(where+", metric "+foreign.Brief(metric.name), err)
		}
	}
	return out.Run(where, r)
}

// describe sets what a tag says. Of MLflow's own tags, these are known; the others name people, files and what a user interface shows.
func (m *mlflowRun) describe(r *schema.Run, tag param) {
	switch tag.name {
	case "mlflow.source.git.commit":
		r.Env.GitCommit = tag.text
	case "mlflow.source.git.branch":
		r.Env.GitBranch = tag.text
	case "mlflow.runName":
		foreign.Put(&r.Tags, "run_name", tag.text)
	default:
		if !strings.HasPrefix(tag.name, "mlflow.") && !foreign.Secret(tag.name) && tag.text != "" && len(tag.text) <= maxTagLength {
			foreign.Put(&r.Tags, tag.name, tag.text)
		}
	}
}

// addTo adds the metric with its values in the order in which they were logged.
func (m *mlflowMetric) addTo(r *schema.Run) error {
	slices.SortStableFunc(m.values, func(a, b mlflowValue) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.step, b.step))
	})
	numbers, since := make([]foreign.Number, len(m.values)), make([]int64, len(m.values))
	timed := !r.StartedAt.IsZero()
	for i, v := range m.values {
		numbers[i], since[i] = v.value, (v.at-r.StartedAt.UnixMilli())*int64(time.Millisecond)
		timed = timed && v.at >= r.StartedAt.UnixMilli() && v.at-r.StartedAt.UnixMilli() < math.MaxInt64/int64(time.Millisecond)
	}
	series, err := foreign.SeriesOf(numbers, "")
	if err != nil {
		return err
	}
	metric := series.Metric(m.name, schema.LevelIteration)
	if timed {
		metric.AtNS = since
	}
	foreign.Add(r, metric, "")
	return nil
}

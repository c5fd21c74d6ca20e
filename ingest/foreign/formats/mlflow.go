package formats

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

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
		Read: readMLflow,
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

// readMLflowDatabase reads the runs of a database in the order in which they ended, so that later ones come behind those that were read before.
func readMLflowDatabase(in *foreign.Input, out *foreign.Output) error {
	db, err := openDatabase(in)
	if err != nil {
		return err
	}
	defer db.close()
	for table, columns := range map[string][]string{
		"runs": {"run_uuid", "experiment_id", "status", "start_time", "end_time", "lifecycle_stage"}, "experiments": {"experiment_id", "name"},
		"metrics": {"run_uuid", "key", "value", "timestamp"}, "params": {"run_uuid", "key", "value"}, "tags": {"run_uuid", "key", "value"},
	} {
		if !db.has(table, columns...) {
			return fmt.Errorf("the table %s of MLflow is missing, or has other columns", table)
		}
	}
	params, err := db.mlflowTexts("params")
	if err != nil {
		return err
	}
	tags, err := db.mlflowTexts("tags")
	if err != nil {
		return err
	}
	var run *mlflowRun
	yield := func() error {
		if run == nil {
			return nil
		}
		return run.yield(out)
	}
	err = db.each(fmt.Sprintf(`SELECT CAST(r.run_uuid AS BLOB), CAST(e.name AS BLOB), CAST(r.status AS BLOB), CAST(r.lifecycle_stage AS BLOB),
		CAST(r.start_time AS BLOB), CAST(m.key AS BLOB), CAST(m.timestamp AS INTEGER), CAST(m.%s AS INTEGER), CAST(m.value AS REAL), CAST(m.%s AS INTEGER)
		FROM runs r LEFT JOIN experiments e USING (experiment_id) LEFT JOIN metrics m ON m.run_uuid = r.run_uuid
		ORDER BY r.end_time, r.run_uuid, m.key, m.timestamp, m.%[1]s, m.value`, db.first("metrics", "step"), db.first("metrics", "is_nan")), func(row []any) error {
		if id := text(row[0]); run == nil || run.id != id {
			if err := yield(); err != nil {
				return err
			}
			run = &mlflowRun{
				id: id, experiment: text(row[1]), status: text(row[2]), stage: text(row[3]), start: foreign.Number(text(row[4])), params: params[id], tags: tags[id],
			}
		}
		if row[5] != nil {
			run.add(text(row[5]), mlflowValueOf(row[6:]))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return yield()
}

// mlflowValueOf returns a value of a row with its time, step, number and whether it is NaN.
func mlflowValueOf(row []any) (v mlflowValue) {
	v.at, _ = row[0].(int64)
	v.step, _ = row[1].(int64)
	value, _ := row[2].(float64)
	if math.Abs(value) == math.MaxFloat64 { // MLflow writes it for an infinity, which some databases lack
		value *= 2
	}
	v.value = foreign.Number(strconv.FormatFloat(value, 'g', -1, 64))
	if nan, _ := row[3].(int64); nan != 0 {
		v.value = "NaN"
	}
	return v
}

// mlflowTexts returns the params or tags of each run, in the order of their names.
func (d *database) mlflowTexts(table string) (map[string][]param, error) {
	texts := map[string][]param{}
	return texts, d.each("SELECT CAST(run_uuid AS BLOB), CAST(key AS BLOB), CAST(value AS BLOB) FROM "+table+" ORDER BY run_uuid, key", func(row []any) error {
		run := text(row[0])
		texts[run] = append(texts[run], param{text(row[1]), text(row[2])})
		return nil
	})
}

// mlflowNumbers are the numbers of statuses in meta.yaml.
var mlflowNumbers = map[string]string{"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}

// readMLflowFolder reads the run of a meta.yaml.
func readMLflowFolder(in *foreign.Input, out *foreign.Output) error {
	const limit = 1 << 20
	content, err := io.ReadAll(io.LimitReader(in.Text(), limit))
	if err != nil {
		return err
	}
	var meta, experiment struct {
		RunID      string `yaml:"run_id"`
		RunUUID    string `yaml:"run_uuid"`
		Experiment string `yaml:"experiment_id"`
		Name       string `yaml:"name"`
		Start      string `yaml:"start_time"`
		Status     string `yaml:"status"`
		Stage      string `yaml:"lifecycle_stage"`
	}
	if err := yaml.Load(content, &meta); err != nil {
		return fmt.Errorf("reading meta.yaml: %w", err)
	}
	above, err := in.Side("../meta.yaml")
	if err == nil {
		err = yaml.Load(above, &experiment)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		out.Refuse("meta.yaml of the experiment", err)
	}
	if meta.RunID == "" {
		meta.RunID = meta.RunUUID
	}
	run := &mlflowRun{id: meta.RunID, experiment: experiment.Name, status: mlflowNumbers[meta.Status], stage: meta.Stage, start: foreign.Number(meta.Start)}
	if run.experiment == "" {
		run.experiment = meta.Experiment
	}
	if run.status == "" {
		run.status = meta.Status
	}
	run.params, run.tags = mlflowFiles(in, out, "params"), mlflowFiles(in, out, "tags")
	for _, metric := range mlflowFiles(in, out, "metrics") {
		for line := range strings.Lines(metric.text) {
			words := strings.Fields(line)
			if len(words) < 2 {
				out.Refuse("metrics/"+metric.name, fmt.Errorf("%q is no time and value", foreign.Brief(line)))
				continue
			}
			v := mlflowValue{value: foreign.Number(words[1])}
			v.at, _ = strconv.ParseInt(words[0], 10, 64)
			if len(words) > 2 {
				v.step, _ = strconv.ParseInt(words[2], 10, 64)
			}
			run.add(metric.name, v)
		}
	}
	return run.yield(out)
}

// mlflowFiles returns the files of a folder beside meta.yaml, with their content, in the order of their names. Names can have slashes.
func mlflowFiles(in *foreign.Input, out *foreign.Output, folder string) (files []param) {
	if in.Folder == nil {
		return nil
	}
	root := path.Join(path.Dir(in.Path), folder)
	err := fs.WalkDir(in.Folder, root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := in.Side(path.Join(folder, strings.TrimPrefix(name, root+"/")))
		if err != nil {
			return err
		}
		files = append(files, param{strings.TrimPrefix(name, root+"/"), strings.ToValidUTF8(string(content), "�")})
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		out.Refuse(folder, err)
	}
	slices.SortFunc(files, func(a, b param) int { return strings.Compare(a.name, b.name) })
	return files
}

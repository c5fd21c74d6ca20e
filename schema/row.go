package schema

import (
	"fmt"
	"time"
)

// RowValues takes the values of a row one by one, in the order of the columns of its table.
type RowValues interface {
	Null()
	Text(value string)
	Integer(value int64)
	Real(value float64)
	Boolean(value bool)
	Time(value time.Time)
	Texts(list []string)
	Integers(list []int64)
	Reals(list []float64)
	TextMap(entries map[string]string)
	RealMap(entries map[string]float64)
	Structs(list [][]any) // each has the values of its fields
}

// PutRun gives the values of a run, in the order of Runs.Columns. digest is that of DigestOf.
func PutRun(to RowValues, r *Run, digest string) {
	putIdentity(to, r, digest)
	putMeasured(to, r)
	putOutcome(to, r)
	putEnv(to, &r.Env)
	primary := r.Metric(r.Primary)
	if primary == nil {
		for range runsOfPrimary {
			to.Null()
		}
		return
	}
	putTexts(to, primary.Name, primary.Unit, string(primary.Better), string(primary.Level), primary.Clock)
	putSummary(to, &primary.Summary)
}

// runsOfPrimary is the number of columns of runs that are about its primary metric.
var runsOfPrimary = len(Runs.Columns) - Runs.Place("metric")

func putIdentity(to RowValues, r *Run, digest string) {
	putTexts(to, r.RunID, r.SessionID, r.PointID)
	putIntegers(to, r.RepeatIndex, r.BlockIndex, r.PositionIndex)
	putTexts(to, r.Side, r.Resumes, string(r.Purpose), r.Source, digest)
}

func putMeasured(to RowValues, r *Run) {
	putTexts(to, r.Suite, r.Benchmark, r.Variant, string(r.Executor), r.Backend, r.BackendVersion, r.Model, r.ModelSHA256, r.Precision)
	putIntegers(to, r.BatchSize, r.SeqLen)
	putTextMaps(to, r.Params, r.Applied, r.Tags)
	putIntegers(to, r.Work.Bytes)
	putReals(to, r.Work.Flops, r.Work.Items)
}

func putOutcome(to RowValues, r *Run) {
	if r.StartedAt.IsZero() {
		to.Null()
	} else {
		to.Time(r.StartedAt.UTC())
	}
	putTexts(to, string(r.TimeSource))
	s := &r.Stages
	putIntegers(to, s.Build, s.Setup, s.Warmup, s.Measure, s.Validate, s.Teardown, s.Profile)
	putTexts(to, string(r.Status), string(r.Stage), r.ErrorKind, r.Error)
	putIntegers(to, r.ExitCode)
	putTexts(to, r.Signal)
	putTextList(to, r.Warnings)
	if r.Artifacts == nil {
		to.Null()
	} else {
		to.Structs(artifactRows(r.Artifacts))
	}
}

func putEnv(to RowValues, e *Env) {
	putTexts(to, e.HostID, e.Machine, e.Hostname, e.OS, e.OSKernel, e.CPUModel)
	putIntegers(to, e.CPUCount, e.MemoryBytes)
	putTexts(to, e.GPUName)
	putIntegers(to, e.GPUCount)
	putTexts(to, e.DriverVersion, e.CUDAVersion, e.PythonVersion, e.GitCommit, e.GitBranch)
	if e.GitDirty == nil {
		to.Null()
	} else {
		to.Boolean(*e.GitDirty)
	}
	putTextMaps(to, e.Facts, e.Missing)
}

// PutMetric gives the values of a metric, in the order of Samples.Columns, without run_id.
func PutMetric(to RowValues, m *Metric) {
	putTexts(to, m.Name, m.Unit, string(m.Better), m.Clock, string(m.Level))
	if m.Tick == 0 {
		to.Null()
	} else {
		to.Real(m.Tick)
	}
	putIntegerList(to, m.Ticks)
	putRealList(to, m.Reals)
	putIntegerList(to, m.WarmupTicks)
	putRealList(to, m.WarmupReals)
	putIntegerList(to, m.AtNS)
	putIntegerList(to, m.IterationsPerSample)
	putSummary(to, &m.Summary)
}

// PutOp gives the values of an op, in the order of Ops.Columns, without run_id.
func PutOp(to RowValues, o *Op) {
	to.Integer(o.Index)
	putTexts(to, o.Name, o.Type, o.Device)
	putIntegers(to, o.StartNS, o.DurationNS, o.Count)
	putTextList(to, o.Kernels)
	if o.Counters == nil {
		to.Null()
	} else {
		to.RealMap(o.Counters)
	}
}

func putSummary(to RowValues, s *Summary) {
	putIntegers(to, s.N)
	putReals(to, s.Min, s.Max, s.Mean, s.StdDev, s.P25, s.P50, s.P75, s.P90, s.P95, s.P99, s.MAD, s.LogMedian, s.First)
	putIntegers(to, s.SteadyIndex, s.Version)
}

// putTexts gives texts, of which an empty one is NULL.
func putTexts(to RowValues, texts ...string) {
	for _, text := range texts {
		if text == "" {
			to.Null()
		} else {
			to.Text(text)
		}
	}
}

func putIntegers(to RowValues, numbers ...*int64) {
	for _, n := range numbers {
		if n == nil {
			to.Null()
		} else {
			to.Integer(*n)
		}
	}
}

func putReals(to RowValues, numbers ...*float64) {
	for _, n := range numbers {
		if n == nil {
			to.Null()
		} else {
			to.Real(*n)
		}
	}
}

func putTextMaps(to RowValues, maps ...map[string]string) {
	for _, m := range maps {
		if m == nil {
			to.Null()
		} else {
			to.TextMap(m)
		}
	}
}

// putTextList gives a list, of which nil is NULL and an empty one is not.
func putTextList(to RowValues, list []string) {
	if list == nil {
		to.Null()
	} else {
		to.Texts(list)
	}
}

func putIntegerList(to RowValues, list []int64) {
	if list == nil {
		to.Null()
	} else {
		to.Integers(list)
	}
}

func putRealList(to RowValues, list []float64) {
	if list == nil {
		to.Null()
	} else {
		to.Reals(list)
	}
}

func artifactRows(all []Artifact) [][]any {
	rows := make([][]any, len(all))
	for i, a := range all {
		row := make(anyRow, 0, 4)
		putTexts(&row, a.Kind, a.Path, a.SHA256)
		putIntegers(&row, a.Bytes)
		rows[i] = row
	}
	return rows
}

// RunRow gives the values of a run in the order of Runs.Columns. digest is that of DigestOf.
func RunRow(r *Run, digest string) []any {
	row := make(anyRow, 0, len(Runs.Columns))
	PutRun(&row, r, digest)
	return row
}

// MetricRow gives the values of a metric in the order of Samples.Columns, without run_id.
func MetricRow(m *Metric) []any {
	row := make(anyRow, 0, len(Samples.Columns))
	PutMetric(&row, m)
	return row
}

// OpRow gives the values of an op in the order of Ops.Columns, without run_id.
func OpRow(o *Op) []any {
	row := make(anyRow, 0, len(Ops.Columns))
	PutOp(&row, o)
	return row
}

// anyRow is a row of which each value has the type that Kind names.
type anyRow []any

func (r *anyRow) add(value any) { *r = append(*r, value) }

func (r *anyRow) Null()                              { r.add(nil) }
func (r *anyRow) Text(value string)                  { r.add(value) }
func (r *anyRow) Integer(value int64)                { r.add(value) }
func (r *anyRow) Real(value float64)                 { r.add(value) }
func (r *anyRow) Boolean(value bool)                 { r.add(value) }
func (r *anyRow) Time(value time.Time)               { r.add(value) }
func (r *anyRow) Texts(list []string)                { r.add(list) }
func (r *anyRow) Integers(list []int64)              { r.add(list) }
func (r *anyRow) Reals(list []float64)               { r.add(list) }
func (r *anyRow) TextMap(entries map[string]string)  { r.add(entries) }
func (r *anyRow) RealMap(entries map[string]float64) { r.add(entries) }
func (r *anyRow) Structs(list [][]any)               { r.add(list) }

// putRow gives the values of a row that has one of the types that Kind names for each.
func putRow(to RowValues, row []any) {
	for _, value := range row {
		switch v := value.(type) {
		case nil:
			to.Null()
		case string:
			to.Text(v)
		case int64:
			to.Integer(v)
		case float64:
			to.Real(v)
		case bool:
			to.Boolean(v)
		case time.Time:
			to.Time(v)
		case []string:
			to.Texts(v)
		case []int64:
			to.Integers(v)
		case []float64:
			to.Reals(v)
		case map[string]string:
			to.TextMap(v)
		case map[string]float64:
			to.RealMap(v)
		case [][]any:
			to.Structs(v)
		default: // readers of files make rows of these types alone
			panic(fmt.Sprintf("a row with a %T", value))
		}
	}
}

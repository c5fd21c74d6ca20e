package formats

import (
	"fmt"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// continuousJob is a command that the continuous runner ran. What it printed is not kept but for the reason of a failure.
type continuousJob struct {
	Name       string         `json:"name"`
	ReturnCode foreign.Number `json:"returncode"`
	Stderr     string         `json:"stderr"`
	Duration   foreign.Number `json:"duration_sec"`
	Timeout    bool           `json:"timeout"`
	Output     jsontext.Value `json:"benchmark_output"` // a result file of any kind
}

// readContinuous reads benchmark_run_*.json: commands by name, each run once. It reads the whole file at once, because it
// has few jobs.
func readContinuous(in *foreign.Input, out *foreign.Output) error {
	j, err := in.JSON()
	if err != nil {
		return err
	}
	var d struct {
		Tag        foreign.Text     `json:"tag"`
		Timestamp  foreign.Text     `json:"timestamp"`
		Benchmarks []jsontext.Value `json:"benchmarks"`
	}
	if err := j.Decode(&d); err != nil {
		return out.RefuseMismatch(err)
	}
	var common schema.Run
	if d.Tag != "" {
		setTags(&common, map[string]foreign.Text{"tag": d.Tag})
	}
	if at, err := time.Parse("20060102_150405", string(d.Timestamp)); err == nil { // the end, in UTC
		foreign.SetStart(&common, at, schema.TimeFile)
	}
	for i, text := range d.Benchmarks {
		var job continuousJob
		where := fmt.Sprintf("/benchmarks/%d", i)
		if err := foreign.DecodeAt(where, text, &job); err != nil {
			if err := out.RefuseMismatch(err); err != nil {
				return err
			}
			continue
		}
		if job.Output != nil {
			out.LeaveOut("file that a job wrote", 1)
		}
		if err := out.Run(where, job.run(common)); err != nil {
			return err
		}
	}
	return nil
}

// signals are the names of the signals that most often end a process.
var signals = map[int64]string{4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM"}

func (c *continuousJob) run(r schema.Run) schema.Run {
	r.Benchmark = c.Name
	if r.Benchmark == "" {
		r.Benchmark = "benchmark"
	}
	code := c.ReturnCode.Int64()
	switch {
	case c.Timeout:
		r.Status, r.Stage, r.Error = schema.StatusTimeout, schema.StageMeasure, strings.TrimSpace(c.Stderr)
	case code == nil:
		r.Status, r.Error = schema.StatusError, "no return code was stored"
	case *code < 0:
		r.Status, r.Signal, r.Error = schema.StatusCrashed, signals[-*code], strings.TrimSpace(c.Stderr)
	case *code > 0:
		failRun(&r, "", strings.TrimSpace(c.Stderr))
		r.ExitCode = code
	default:
		r.ExitCode = code
		addSample(&r, harnessQuantity{name: schema.PrimaryMetric, unit: "s"}, "", positive(c.Duration), schema.LevelProcess)
	}
	return r
}

// nsysPairs are the rows that the harness writes for nsys, in lower case.
var nsysPairs = map[string]harnessQuantity{
	"total gpu time":               {"total_gpu_time", "ms", schema.BetterLower},
	"kernel time":                  {"kernel_time", "ms", schema.BetterLower},
	"memory throughput gb/s":       {"memory_throughput", "GB/s", schema.BetterHigher},
	"compute throughput gflops":    {"compute_throughput", "Gflop/s", schema.BetterHigher},
	"memory bandwidth utilization": {"memory_bandwidth_utilization", "%", schema.BetterHigher},
	"compute utilization":          {"compute_utilization", "%", schema.BetterHigher},
}

// readNsysPairs reads metrics and values, one a line, of a whole profile.
func readNsysPairs(in *foreign.Input, out *foreign.Output) error {
	r := schema.Run{Benchmark: "profile", Purpose: schema.PurposeProfile}
	foreign.SetParam(&r, "profiler", profilers[0])
	err := readPairs(in, out, func(name string, n foreign.Number) {
		q, ok := nsysPairs[strings.ToLower(name)]
		if !ok {
			key := strings.NewReplacer(" ", "_", "/", "_per_", "(", "", ")", "").Replace(strings.ToLower(name))
			q = quantityOf(key)
		}
		addSample(&r, q, q.name, n, schema.LevelProcess)
	})
	if err != nil {
		return err
	}
	return out.Run("line 1", r)
}

// readNcuPairs reads counters and values, one a line. A counter stands there again for each kernel.
func readNcuPairs(in *foreign.Input, out *foreign.Output) error {
	r := schema.Run{Benchmark: "profile", Purpose: schema.PurposeProfile}
	foreign.SetParam(&r, "profiler", profilers[1])
	var names []string
	counted := map[string][]foreign.Number{}
	err := readPairs(in, out, func(name string, n foreign.Number) {
		if counted[name] == nil {
			names = append(names, name)
		}
		counted[name] = append(counted[name], n)
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		q := counterOf(name)
		s, err := foreign.SeriesOf(counted[name], q.unit)
		if err != nil {
			out.Refuse(name, err)
			continue
		}
		q.metric(&r, s.Metric(name, schema.LevelIteration), name)
	}
	return out.Run("line 1", r)
}

// readPairs reads lines of a name and a number. Anything else except a header and empty lines is refused.
func readPairs(in *foreign.Input, out *foreign.Output, pair func(name string, n foreign.Number)) error {
	table := in.CSV()
	for record, err := range table.Records() {
		if err != nil {
			return err
		}
		if len(record) == 1 && strings.TrimSpace(record[0]) == "" || table.Line() == 1 && strings.EqualFold(strings.TrimSpace(record[0]), "metric") {
			continue
		}
		where := fmt.Sprintf("line %d", table.Line())
		if len(record) < 2 {
			out.Refuse(where, fmt.Errorf("%d fields, want a name and a number", len(record)))
			continue
		}
		name, text := strings.Clone(strings.TrimSpace(record[0])), strings.ReplaceAll(strings.TrimSpace(record[1]), ",", "")
		n, err := cellNumber(text)
		if err != nil || n == "" {
			out.Refuse(where, fmt.Errorf("%.60q is not a number", text))
			continue
		}
		pair(name, n)
	}
	return nil
}

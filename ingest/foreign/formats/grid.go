package formats

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// operationGrid reads the files of comprehensive_benchmark.py and cuda_vs_triton_comparison.py: results of operations
// over a grid of sizes, by implementation.
var operationGrid = foreign.Format{
	Name: "operation-grid", About: "comprehensive_benchmark.py: benchmark_results.json, cuda_vs_triton_results_*.json, *_comparison.csv",
	Level: "a run is an operation at one size by one implementation; the files have only means",
	Recognize: func(h *foreign.Head) bool {
		return h.Has("[].operation", "[].implementation", "[].time_ms") || h.Has("operation", "implementation", "time_ms") ||
			h.Has("[].operation") && h.HasAny("[].pytorch", "[].cuda", "[].triton") && !h.Has("[].implementation") ||
			strings.HasPrefix(strings.ToLower(h.FirstLine()), gridHeader)
	},
	Read: func(in *foreign.Input, out *foreign.Output) error {
		switch {
		case in.Head.JSONAt < 0:
			return readGridCSV(in, out)
		case in.Head.HasAny("[].implementation", "implementation"):
			return readGridJSON(in, out, func(where string, row *gridRow) error { return row.read(where, out) })
		}
		return readGridJSON(in, out, func(where string, row *gridComparison) error { return row.read(where, out) })
	},
}

// readGridJSON reads an array of records, or one.
func readGridJSON[T any](in *foreign.Input, out *foreign.Output, read func(where string, record *T) error) error {
	j := in.JSON()
	if j.Kind() == '{' {
		return readNext(j, out, read)
	}
	return eachElement(j, out, read)
}

// gridRow is the result of an operation at one size by one implementation.
type gridRow struct {
	Operation      string         `json:"operation"`
	Implementation string         `json:"implementation"`
	Batch          foreign.Text   `json:"batch_size" param:"batch_size"`
	Sequence       foreign.Text   `json:"sequence_length" param:"sequence_length"`
	Dimension      foreign.Text   `json:"tensor_dimension" param:"tensor_dimension"`
	Time           foreign.Number `json:"time_ms"`
	Memory         foreign.Number `json:"memory_mb"`
	Speed          foreign.Number `json:"inference_speed"`
	Efficiency     foreign.Number `json:"gpu_efficiency"`
	Throughput     foreign.Number `json:"throughput_gbps"`
	Own            *layoutRun     `json:"neurolens"`
}

func (row *gridRow) read(where string, out *foreign.Output) error {
	if row.Operation == "" || row.Implementation == "" {
		return refusal(where, "a result without operation or implementation")
	}
	r := gridRun(row.Operation, row.Implementation)
	row.Own = row.Own.known()
	describe(&r, row)
	if row.Own != nil {
		return row.own(where, out, r)
	}
	timed := gridLatency(&r, row.Time, "cuda_event")
	single(&r, "device_memory_peak", row.Memory, "MiB")
	if timed {
		addValue(&r, measure{"inference_speed", higher}, row.Speed, "1/s")
		row.rates(&r, "memory_throughput")
	}
	return out.Run(where, r)
}

// rates adds the GPU efficiency and the throughput. moved names the metric of throughput_gbps.
func (row *gridRow) rates(r *schema.Run, moved string) {
	addValue(r, measure{"gpu_efficiency", higher}, row.Efficiency, "%")
	if v := row.Throughput.Finite("GiB"); v != nil { // memory_mb / 1024 in a second
		m := foreign.Aggregate(moved, "B/s", schema.Summary{Mean: v})
		m.Better = schema.BetterHigher
		foreign.Add(r, m, "GiB/s")
	}
}

// own makes a run from a row that NeuroLens wrote. In such a row zero is a time, and the speed is computed from it.
func (row *gridRow) own(where string, out *foreign.Output, r schema.Run) error {
	row.Own.identify(&r)
	foreign.Add(&r, foreign.Aggregate(schema.PrimaryMetric, "ms", schema.Summary{Mean: row.Time.Finite("ms")}), "ms")
	if err := row.Own.time(&r, "time_ms"); err != nil {
		return refusal(where, "%w", err)
	}
	single(&r, "device_memory_peak", row.Memory, "MiB")
	row.rates(&r, row.Own.metric("throughput_gbps", "memory_throughput"))
	row.Own.values(&r)
	return out.Run(where, r)
}

// gridRun returns a run of an operation by an implementation.
func gridRun(operation, implementation string) schema.Run {
	backend := strings.ToLower(implementation)
	if backend == "pytorch" {
		backend = "torch"
	}
	return schema.Run{Benchmark: operation, Variant: implementation, Backend: backend}
}

// gridLatency adds the mean time of a call. A time of 0 means that the call failed, and values computed from it mean
// nothing. A comparison uses another clock than the grid, which the file does not name.
func gridLatency(r *schema.Run, time foreign.Number, clock string) bool {
	v := time.Finite("ms")
	if v == nil || *v <= 0 {
		r.Status, r.Error = schema.StatusError, fmt.Sprintf("time_ms is %q", time)
		return false
	}
	m := foreign.Aggregate("latency", "ms", schema.Summary{Mean: v})
	m.Clock = clock
	foreign.Add(r, m, "ms")
	return true
}

type gridResult struct {
	Time        foreign.Number `json:"time_ms"`
	Speedup     foreign.Number `json:"speedup"`
	Correctness string         `json:"correctness"`
}

// gridPoint is how a comparison names a point: LayerNorm_16_256_512.
var gridPoint = regexp.MustCompile(`^(.+)_([0-9]+)_([0-9]+)_([0-9]+)$`)

// gridComparison compares the implementations of an operation at one size.
type gridComparison struct {
	Operation string      `json:"operation"`
	PyTorch   *gridResult `json:"pytorch"`
	CUDA      *gridResult `json:"cuda"`
	Triton    *gridResult `json:"triton"`
}

func (row *gridComparison) read(where string, out *foreign.Output) error {
	if row.Operation == "" {
		return refusal(where, "a result without operation")
	}
	for _, i := range []struct {
		name   string
		result *gridResult
	}{{"PyTorch", row.PyTorch}, {"CUDA", row.CUDA}, {"Triton", row.Triton}} {
		if i.result == nil {
			out.LeaveOutNamed("implementations without a result", i.name+" of "+row.Operation)
			continue
		}
		r := gridRun(row.Operation, i.name)
		if m := gridPoint.FindStringSubmatch(row.Operation); m != nil {
			r.Benchmark = m[1]
			foreign.SetParam(&r, "batch_size", m[2])
			foreign.SetParam(&r, "sequence_length", m[3])
			foreign.SetParam(&r, "tensor_dimension", m[4])
		}
		if gridLatency(&r, i.result.Time, "") {
			addValue(&r, measure{"speedup", higher}, i.result.Speedup, "ratio")
		}
		i.result.validate(&r)
		if err := out.Run(where, r); err != nil {
			return err
		}
	}
	return nil
}

var gridDifference = regexp.MustCompile(`Max diff: *([-+.0-9a-zA-Z]+)`)

// validate sets the result of the comparison with PyTorch. A wrong result is an error, but its times stay.
func (g *gridResult) validate(r *schema.Run) {
	if g.Correctness == "" || strings.HasPrefix(g.Correctness, "✓") {
		return
	}
	r.Status, r.Stage, r.ErrorKind, r.Error = schema.StatusError, schema.StageValidate, "validate", g.Correctness
	if m := gridDifference.FindStringSubmatch(g.Correctness); m != nil {
		single(r, "max_error", foreign.Number(m[1]), "")
	}
}

// gridHeader is the first line of a table of an operation: means over all sizes, by implementation.
const gridHeader = "implementation,avg time (ms),"

// readGridCSV reads a table of an operation, which is only in the name of the file: gelu_comparison.csv.
func readGridCSV(in *foreign.Input, out *foreign.Output) error {
	operation := strings.TrimSuffix(strings.TrimSuffix(in.Head.Name, ".csv"), "_comparison")
	for _, name := range []string{"LayerNorm", "GELU", "Swish", "Loss"} {
		if strings.EqualFold(operation, name) {
			operation = name
		}
	}
	return tables{
		heading: func(names, _ []string) bool { return names == nil },
		begins: func(_ string, names []string) error {
			for i, name := range names {
				names[i] = strings.ToLower(strings.TrimSpace(name))
			}
			if !slices.Contains(names, "avg time (ms)") {
				return errors.New("the table has no column Avg Time (ms)")
			}
			return nil
		},
		fits: func(_, _ []string) bool { return true },
		row: func(out *foreign.Output, where string, names, record []string) error {
			r := gridRun(operation, strings.TrimSpace(record[0]))
			err := gridCells(&r, names, record)
			return out.RunOr(where, r, err)
		},
	}.read(in, out)
}

func gridCells(r *schema.Run, header, record []string) error {
	if len(record) != len(header) {
		return fmt.Errorf("%d columns, but the header has %d", len(record), len(header))
	}
	for i, name := range header {
		var n foreign.Number
		if i > 0 {
			n = foreign.Number(strings.TrimSpace(record[i]))
			if n != "" && n.Float64() == nil {
				return fmt.Errorf("column %q: %q is not a number", name, record[i])
			}
		}
		switch name {
		case "avg time (ms)":
			gridLatency(r, n, "cuda_event")
		case "avg memory (mb)":
			foreign.Add(r, foreign.Aggregate("device_memory_peak", "MiB", schema.Summary{Mean: n.Finite("MiB")}), "MiB")
		case "avg inference speed":
			addValue(r, measure{"inference_speed", higher}, n, "1/s")
		case "avg gpu efficiency":
			addValue(r, measure{"gpu_efficiency", higher}, n, "%")
		}
	}
	return nil
}

package layout

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/schema"
)

// gridRow is one run of an operation.
type gridRow struct {
	Operation      string `json:"operation"`
	Implementation string `json:"implementation"`
	Batch          number `json:"batch_size"`
	Sequence       number `json:"sequence_length"`
	Dimension      number `json:"tensor_dimension"`
	Time           number `json:"time_ms"`         // mean time of a call
	Memory         number `json:"memory_mb"`       // MiB, peak of the device
	Speed          number `json:"inference_speed"` // calls per second
	Efficiency     number `json:"gpu_efficiency"`  // percent
	Throughput     number `json:"throughput_gbps"` // GiB/s

	Axes   map[string]json.RawMessage `json:"axes,omitempty"`   // other axes than these
	Status string                     `json:"status,omitempty"` // only of a run without a time
	Error  *string                    `json:"error,omitempty"`  // likewise
	Own    *own                       `json:"neurolens"`

	run *schema.Run
}

func gridRowOf(r *schema.Run) *gridRow {
	row := &gridRow{
		Operation: r.Benchmark, Implementation: cmp.Or(r.Variant, r.Backend, unknown),
		Batch: integer(r.BatchSize), Sequence: integer(r.SeqLen),
		Axes: axes(r, "variant", "batch_size", "seq_len", "tensor_dimension"), Own: ownOf(r), run: r,
	}
	if text := r.Params["tensor_dimension"]; text != "" {
		if n := jsonValue(text); n[0] != '"' {
			row.Dimension = number(n)
		} else {
			row.Axes["tensor_dimension"] = n
		}
	}
	m := timeOf(r)
	row.Own.timed("time_ms", m, true)
	row.Own.rest(r, m)
	// All values of a row are means or, for rates, belong to the mean time, so that 1000 / time_ms is inference_speed, and the bytes of
	// a call over time_ms are throughput_gbps.
	row.Time, row.Speed = in(meanOf(m), "ms"), in(perSecond(meanOf(m)), "1/s")
	row.Memory = in(meanOf(metricOf(r, "device_memory_peak", "B")), "MiB")
	row.Efficiency = in(meanOf(metricOf(r, "gpu_efficiency", "ratio")), "%")
	moved := metricOf(r, "memory_throughput", "B/s")
	if moved == nil {
		moved = metricOf(r, "bandwidth", "B/s")
	}
	if row.Throughput = in(meanRate(moved), "GiB/s"); row.Throughput != "" {
		row.Own.shows("throughput_gbps", moved, "memory_throughput")
	}
	if row.Time == "" {
		row.Status, row.Error = string(r.Status), files.Optional(why(r))
	}
	return row
}

// The order in which the benchmark measures operations and implementations. Others follow in the order of their first runs.
var (
	gridOperations      = []string{"LayerNorm", "GELU", "Swish", "Loss"}
	gridImplementations = []string{"PyTorch", "CUDA", "Triton"}
)

// gridOrder returns the words of the rows in that order.
func gridOrder(first []string, rows []*gridRow, word func(*gridRow) string) []string {
	var all []string
	for _, known := range first {
		if slices.ContainsFunc(rows, func(r *gridRow) bool { return word(r) == known }) {
			all = append(all, known)
		}
	}
	for _, r := range rows {
		all = with(all, word(r))
	}
	return all
}

// gridTable holds the rows with their operations and implementations in order.
type gridTable struct {
	wrong                       map[string]bool // see wrongPoints
	rows                        []*gridRow
	operations, implementations []string
}

func gridTableOf(runs []*schema.Run) *gridTable {
	t := &gridTable{rows: []*gridRow{}, wrong: wrongPoints(runs)}
	for _, r := range runs {
		t.rows = append(t.rows, gridRowOf(r))
	}
	t.operations = gridOrder(gridOperations, t.rows, func(r *gridRow) string { return r.Operation })
	t.implementations = gridOrder(gridImplementations, t.rows, func(r *gridRow) string { return r.Implementation })
	slices.SortStableFunc(t.rows, func(a, b *gridRow) int {
		return cmp.Or(
			cmp.Compare(a.Batch.float(), b.Batch.float()), cmp.Compare(a.Sequence.float(), b.Sequence.float()),
			cmp.Compare(a.Dimension.float(), b.Dimension.float()),
			cmp.Compare(slices.Index(t.operations, a.Operation), slices.Index(t.operations, b.Operation)),
			cmp.Compare(slices.Index(t.implementations, a.Implementation), slices.Index(t.implementations, b.Implementation)),
			strings.Compare(described(a.Axes), described(b.Axes)),
		)
	})
	return t
}

// grid makes the files of the operation grid. Its programs compute with time_ms of each row, so runs without a time are in a separate
// file: the benchmark itself writes no row for them.
func (f *Folder) grid() ([]file, error) {
	t := gridTableOf(f.measured())
	timed, failed := []*gridRow{}, []*gridRow{}
	for _, r := range t.rows {
		if r.Time != "" {
			timed = append(timed, r)
		} else {
			failed = append(failed, r)
		}
	}
	all, err := f.summaryFiles("benchmark_results.json", "benchmark_results.md", timed, t.markdown())
	if err != nil {
		return nil, err
	}
	beside := strings.TrimSuffix(all[1].path, ".json") + failedEnding
	if len(failed) == 0 {
		return append(all, file{path: beside, summary: all[1].summary, stale: isGrid}), nil
	}
	one, err := document(beside, failed)
	one.summary = all[1].summary
	return []file{all[0], one, all[1]}, err
}

// failedEnding ends the name of the file with the runs without a time.
const failedEnding = ".failed.json"

// isGrid reports whether this package wrote the rows of a file.
func isGrid(content []byte) bool {
	var rows []json.RawMessage
	return json.Unmarshal(content, &rows) == nil && len(rows) > 0 && ownIn(rows[0], "operation").RunID != ""
}

// markdown returns the tables that the benchmark prints, one for each operation, with means over the sizes that an implementation ran at.
func (t *gridTable) markdown() []byte {
	var p page
	p.line("# Benchmark Results")
	for _, operation := range t.operations {
		p.line("\n## %s\n", oneLine(operation))
		p.header("Implementation", "Time (ms)", "Memory (MB)", "Inference Speed", "GPU Efficiency", "Rows", "Not OK")
		for _, implementation := range t.implementations {
			if cells := t.averages(operation, implementation); cells != nil {
				p.row(cells...)
			}
		}
		if !t.comparable(operation) {
			p.line("\nThese implementations were not measured at the same sizes: do not compare their means.")
		}
	}
	ordered := make([]*schema.Run, len(t.rows))
	for i, r := range t.rows {
		ordered[i] = r.run
	}
	p.notOK(ordered, label)
	return []byte(p.String())
}

// averages returns the cells of an implementation of an operation, or nil if it has no row.
func (t *gridTable) averages(operation, implementation string) []string {
	var values [4][]float64
	rows, failed := 0, 0
	for _, r := range t.rows {
		if r.Operation != operation || r.Implementation != implementation {
			continue
		}
		rows++
		if r.Time == "" || t.wrong[r.run.PointID+r.run.Side] {
			failed++
			continue
		}
		for i, n := range []number{r.Time, r.Memory, r.Speed, r.Efficiency} {
			if n != "" {
				values[i] = append(values[i], n.float())
			}
		}
	}
	if rows == 0 {
		return nil
	}
	return []string{
		implementation, figure(mean(values[0]), 3), figure(mean(values[1]), 2), figure(mean(values[2]), 2), figure(mean(values[3]), 2),
		string(integer(new(int64(rows)))), string(integer(new(int64(failed)))),
	}
}

// comparable reports whether all implementations of an operation that have times have them at the same sizes.
func (t *gridTable) comparable(operation string) bool {
	sizes := map[string]map[string]bool{}
	for _, r := range t.rows {
		if r.Operation == operation && r.Time != "" {
			if sizes[r.Implementation] == nil {
				sizes[r.Implementation] = map[string]bool{}
			}
			sizes[r.Implementation][string(r.Batch+" "+r.Sequence+" "+r.Dimension)+" "+described(axes(r.run, "variant"))] = true
		}
	}
	var first map[string]bool
	for _, implementation := range t.implementations {
		of := sizes[implementation]
		if of == nil {
			continue
		}
		if first == nil {
			first = of
		}
		for size := range of {
			if !first[size] || len(first) != len(of) {
				return false
			}
		}
	}
	return true
}

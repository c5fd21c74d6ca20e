package summary_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// op returns an operator of a type that took so many ns.
func op(kind, name string, took int64) schema.Op {
	return schema.Op{Name: name, Type: kind, DurationNS: &took, Count: new(int64(1))}
}

// sized gives an operator calls with a counter.
func sized(o schema.Op, calls int64, counters map[string]float64) schema.Op {
	o.Count, o.Counters = &calls, counters
	return o
}

// profile returns the n-th run, with operators.
func profile(n int, ops ...schema.Op) schema.Run {
	for i := range ops {
		ops[i].Index = int64(i)
	}
	return querytest.NewRun(n, 100, func(r *schema.Run) { r.Purpose, r.Ops = schema.PurposeProfile, ops })
}

// ask returns the runs similar to the run, and fails on an error.
func ask(t *testing.T, db *query.DB, run schema.Run, filter string, limit int) summary.Similar {
	t.Helper()
	found := valuetest.Must(summary.FindSimilar(t.Context(), db, summary.SimilarRequest{Run: &run, Filter: filter, Limit: limit}))
	return found
}

// rows returns the ids and distances of rows, by the place of the run in runs.
func rows(found summary.Similar, runs []schema.Run) string {
	var words []string
	for _, row := range found.Rows {
		for i := range runs {
			if runs[i].RunID == row.RunID {
				words = append(words, fmt.Sprintf("%d:%.6f", i, row.Distance))
			}
		}
	}
	return strings.Join(words, " ")
}

func differencesOf(row summary.SimilarRun) string {
	var words []string
	number := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprintf("%.4g", *v)
	}
	for _, d := range row.Differences {
		words = append(words, fmt.Sprintf("%s %s %s", d.Operator, number(d.To), number(d.Share)))
		if d.Unit != "" {
			words[len(words)-1] += fmt.Sprintf(" (%s %s %s)", number(d.ToSize), number(d.Size), d.Unit)
		}
	}
	return strings.Join(words, ", ")
}

// TestDistances: computed by hand. The reference run spends 64 % in MatMul and 36 % in Softmax.
func TestDistances(t *testing.T) {
	runs := []schema.Run{
		profile(0, op("MatMul", "a", 320), op("Softmax", "s", 360), op("MatMul", "b", 320)),
		profile(1, op("MatMul", "x", 64_000), op("Softmax", "y", 36_000)),             // the same, a hundred times as slow
		profile(2, op("MatMul", "x", 36), op("Softmax", "y", 64)),                     // Σ√pq = 2 * 0.48: √0.04
		profile(3, op("MatMul", "x", 100)),                                            // Σ√pq = 0.8: √0.2
		profile(4, op("Conv", "x", 100)),                                              // nothing in common
		profile(5, op("MatMul", "x", 16), op("Softmax", "y", 9), op("Conv", "z", 75)), // Σ√pq = 0.32 + 0.18: √0.5
	}
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	found := ask(t, db, runs[0], "", 0)
	want := fmt.Sprintf("1:0.000000 2:%.6f 3:%.6f 5:%.6f 4:1.000000", math.Sqrt(0.04), math.Sqrt(0.2), math.Sqrt(0.5))
	if got := rows(found, runs); got != want || found.Compared != 5 || found.Without != 0 || found.To != runs[0].RunID {
		t.Errorf("%s, want %s; %+v", got, want, found)
	}
	if found.Rows[0].Distance != 0 || found.Rows[4].Distance != 1 {
		t.Errorf("%v and %v are no bounds", found.Rows[0].Distance, found.Rows[4].Distance)
	}
	for i, want := range []string{
		"", "MatMul 0.64 0.36, Softmax 0.36 0.64", "MatMul 0.64 1, Softmax 0.36 -", "Conv - 0.75, MatMul 0.64 0.16, Softmax 0.36 0.09", "Conv - 1, MatMul 0.64 -, Softmax 0.36 -",
	} {
		if got := differencesOf(found.Rows[i]); got != want {
			t.Errorf("row %d: %s, want %s", i, got, want)
		}
	}
	for i, want := range []float64{1, 0.72, 0.64, 0.25, 0} {
		if got := found.Rows[i].Shared; math.Abs(got-want) > 1e-12 {
			t.Errorf("row %d shares %v, want %v", i, got, want)
		}
		if found.Rows[i].Sized != 0 {
			t.Errorf("row %d: sizes of %v are compared, and none are known", i, found.Rows[i].Sized)
		}
	}
	if got := rows(ask(t, db, runs[0], "", 2), runs); got != want[:strings.Index(want, " 3:")] {
		t.Errorf("the nearest two: %s", got)
	}
	if back := ask(t, db, runs[5], "", 0); fmt.Sprintf("%.6f", back.Rows[1].Distance) != fmt.Sprintf("%.6f", math.Sqrt(0.5)) {
		t.Errorf("the other way round: %s", rows(back, runs))
	}
}

// TestSizes: if the sizes of an operator are known in both runs, the operator counts by how similar they are; if not, sizes
// make no difference.
func TestSizes(t *testing.T) {
	tensors := func(in, weights, out float64) map[string]float64 {
		return map[string]float64{"activation_size": in, "parameter_size": weights, "output_size": out}
	}
	runs := []schema.Run{
		profile(0, sized(op("MatMul", "a", 75), 1, tensors(300, 0, 100)), sized(op("Relu", "r", 25), 4, map[string]float64{"flops": 4000})),
		profile(1, sized(op("MatMul", "a", 75), 3, tensors(300, 0, 100)), sized(op("Relu", "r", 25), 1, map[string]float64{"flops": 1000})),    // the same
		profile(2, sized(op("MatMul", "a", 75), 1, tensors(1200, 200, 200)), sized(op("Relu", "r", 25), 2, map[string]float64{"flops": 2000})), // 1600 of 400: w = 1/2
		profile(3, op("MatMul", "a", 75), sized(op("Relu", "r", 25), 1, map[string]float64{"bytes": 9})),                                       // not known, and another unit
		profile(4, sized(op("MatMul", "a", 75), 1, tensors(300, 0, 100)), sized(op("Relu", "r", 25), 1, map[string]float64{"flops": math.Inf(1)})),
		profile(5, sized(op("MatMul", "a", 50), 1, tensors(300, 0, 100)), op("MatMul", "b", 25), sized(op("Relu", "r", 25), 1, tensors(0, 0, 0))), // of one MatMul alone
	}
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	found := ask(t, db, runs[0], "", 0)
	want := fmt.Sprintf("5:0.000000 4:0.000000 3:0.000000 1:0.000000 2:%.6f", math.Sqrt(1-(0.75/2+0.25)))
	if got := rows(found, runs); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for i, want := range []float64{0, 0.75, 0, 1, 1} {
		if got := found.Rows[i].Sized; math.Abs(got-want) > 1e-12 {
			t.Errorf("row %d: sizes of %v are compared, want %v", i, got, want)
		}
	}
	if got, want := differencesOf(found.Rows[4]), "MatMul 0.75 0.75 (400 1600 B of tensors)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestSizesOfMoves: bytes and operations are those of all calls.
func TestSizesOfMoves(t *testing.T) {
	copies := func(n int, calls int64, bytes float64) schema.Run {
		return profile(n, sized(op("memcpy", "HtoD", 10), calls, map[string]float64{"bytes": bytes}))
	}
	runs := []schema.Run{copies(0, 1, 100), copies(1, 4, 400), copies(2, 4, 100), profile(3, sized(op("memcpy", "HtoD", 10), 1, map[string]float64{"bytes": 7, "output_size": 7}))}
	found := ask(t, querytest.Open(t, querytest.NewStore(t, runs...)), runs[0], "", 0)
	if got, want := rows(found, runs), fmt.Sprintf("3:0.000000 1:0.000000 2:%.6f", math.Sqrt(0.5)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	if got, want := rows(ask(t, db, runs[3], "", 0), runs), "2:0.000000 1:0.000000 0:0.000000"; got != want {
		t.Errorf("the other way round: %s, want %s", got, want)
	}
}

// TestLevels: operators are identified by type if the profile has types, otherwise by what a device did, otherwise by the host.
func TestLevels(t *testing.T) {
	runs := []schema.Run{
		profile(0, op("kernel", "gemm", 60), op("gpu_memcpy", "HtoD", 40), op("cpu_op", "aten::mm", 500), op("cuda_runtime", "cudaLaunchKernel", 900), op("user_annotation", "forward", 2000)),
		profile(1, op("Kernel", "gemm", 6), op("memcpy", "HtoD", 4), op("nvtx", "step", 77)),
		profile(2, op("cpu_op", "gemm", 6), op("Operator", "HtoD", 4)),
		profile(3, op("aten::mm", "aten::mm", 6), op("kernel", "gemm", 6)), // types come first
		profile(4, op("", "gemm", 6), op("", "HtoD", 4)),                   // a name is all that is known
		profile(5, op("nvtx", "gemm", 6)),                                  // only spans: no operators
	}
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	found := ask(t, db, runs[0], "", 0)
	if got, want := rows(found, runs), "4:0.000000 2:0.000000 1:0.000000 3:1.000000"; got != want || found.Without != 1 {
		t.Errorf("%s, want %s; without %d", got, want, found.Without)
	}
	if got, want := differencesOf(found.Rows[3]), "aten::mm - 1, gemm 0.6 -, HtoD 0.4 -"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestCandidates: failed runs and runs without operators are counted and not compared; the filter selects the others.
func TestCandidates(t *testing.T) {
	noTime := schema.Op{Name: "MatMul", Type: "MatMul", Count: new(int64(3))}
	runs := []schema.Run{
		profile(0, op("MatMul", "a", 10)),
		profile(1, op("MatMul", "a", 10)),
		querytest.NewRun(2, 100, nil),
		profile(3, noTime),
		profile(4, op("MatMul", "a", 10)),
		profile(5, op("MatMul", "a", 0)),
	}
	runs[4].Status, runs[4].ErrorKind, runs[4].Error = schema.StatusError, "raise", "x"
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	found := ask(t, db, runs[0], "", 0)
	if got := rows(found, runs); got != "1:0.000000" || found.Compared != 1 || found.Without != 4 {
		t.Errorf("%s; compared %d, without %d", got, found.Compared, found.Without)
	}
	found = ask(t, db, runs[0], "run="+runs[2].RunID, 0)
	if len(found.Rows) != 0 || found.Compared != 0 || found.Without != 1 {
		t.Errorf("%+v", found)
	}
	found = ask(t, db, runs[1], "run!="+runs[1].RunID, 0) // it need not match itself
	if got := rows(found, runs); got != "0:0.000000" {
		t.Error(got)
	}
	_, err := summary.FindSimilar(t.Context(), db, summary.SimilarRequest{Run: &runs[2]})
	querytest.WantInput(t, err, "has no operators with durations: `neurolens ingest PROFILE` reads one")
	runs[2].Executor, runs[2].Env.Facts["sweep.file"] = schema.ExecutorONNXRT, "my.yaml"
	_, err = summary.FindSimilar(t.Context(), db, summary.SimilarRequest{Run: &runs[2]})
	querytest.WantInput(t, err, "like: run "+runs[2].RunID+" has no operators with durations: `neurolens bench my.yaml --profile ort` profiles its point")
	_, err = summary.FindSimilar(t.Context(), db, summary.SimilarRequest{Run: &runs[0], Filter: "batch_size>>1"})
	querytest.WantInput(t, err, "filter")
}

// TestPassOfItsPoint: of a measured run the profile of its point in its session counts, the newest, also where that is among the
// others.
func TestPassOfItsPoint(t *testing.T) {
	point := func(r schema.Run, session int, side string) schema.Run {
		r.BatchSize, r.Params, r.SessionID, r.Side = nil, nil, querytest.SessionID(session), side
		r.PointID = schema.PointID(&r)
		return r
	}
	runs := []schema.Run{
		point(querytest.NewRun(0, 100, nil), 1, ""),
		point(profile(1, op("MatMul", "a", 10)), 1, ""),
		point(profile(2, op("Conv", "a", 10)), 1, ""),
		point(profile(3, op("Relu", "a", 10)), 2, ""),        // another session
		profile(4, op("Conv", "a", 10), op("Relu", "b", 10)), // another point
		point(profile(5, op("Relu", "a", 10)), 1, "base"),
		point(profile(6, op("Relu", "a", 10)), 1, ""), // which failed
	}
	runs[6].Status, runs[6].ErrorKind, runs[6].Error = schema.StatusError, "raise", "x"
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	own := runs[0]
	own.Ops = runs[3].Ops
	other := querytest.Open(t, querytest.NewStore(t, own, runs[1], runs[2]))
	if found := ask(t, other, own, "", 1); found.To != own.RunID {
		t.Errorf("its own operators come first: %s", found.To)
	}
	for _, filter := range []string{"", "run!=" + runs[2].RunID} {
		found := ask(t, db, runs[0], filter, 1)
		if got, want := rows(found, runs), fmt.Sprintf("4:%.6f", math.Sqrt(1-math.Sqrt(0.5))); got != want || found.To != runs[2].RunID {
			t.Errorf("filter %q: %s, want %s; to %s", filter, got, want, found.To)
		}
	}
}

// TestLikenessOrder: the answer does not depend on how the store is divided into files, and equally near runs are sorted newest first.
func TestLikenessOrder(t *testing.T) {
	var runs []schema.Run
	for n := range 60 {
		runs = append(runs, profile(n, op("MatMul", "a", int64(1000+n%7)), op("Softmax", "b", int64(300+n%3)), op("Add", "c", 77)))
	}
	live := ask(t, querytest.Open(t, querytest.LiveStore(t, runs...)), runs[3], "", 0)
	sealed := ask(t, querytest.SealedRuns(t, runs), runs[3], "", 0)
	if a, b := fmt.Sprint(rows(live, runs)), fmt.Sprint(rows(sealed, runs)); a != b || len(live.Rows) != 59 {
		t.Errorf("%s\n%s", a, b)
	}
	for i := 1; i < len(live.Rows); i++ {
		a, b := live.Rows[i-1], live.Rows[i]
		if a.Distance > b.Distance || a.Distance == b.Distance && a.RunID < b.RunID {
			t.Errorf("rows %d and %d: %v %s, %v %s", i-1, i, a.Distance, a.RunID, b.Distance, b.RunID)
		}
	}
}

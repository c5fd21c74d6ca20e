package chartdata_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/chartdata"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// profiledRun returns a pass of a profiler over a point, with operators that took so many ns.
func profiledRun(n, session int, batch int64, took map[string]int64) schema.Run {
	r := runOf(n, session, batch, 64, 1000)
	r.Purpose, r.Metrics, r.Primary = schema.PurposeProfile, nil, ""
	for name, ns := range took {
		r.Ops = append(r.Ops, schema.Op{Index: int64(len(r.Ops)), Name: name + "_1", Type: name, DurationNS: &ns, Count: new(int64(3))})
	}
	return r
}

// TestOperators: a cell is the share of an operator in the newest profiled run of a point; what failed and what is no profile has none.
func TestOperators(t *testing.T) {
	hostile := "Soft<max>\x1b[2J"
	newest := profiledRun(20, 2, 1, map[string]int64{"MatMul": 300, hostile: 100})
	other := profiledRun(21, 2, 8, map[string]int64{"MatMul": 100, "Conv": 900})
	failed := profiledRun(30, 3, 1, map[string]int64{"MatMul": 1})
	failed.Status, failed.Error = schema.StatusError, "no"
	db := stored(t, profiledRun(10, 1, 1, map[string]int64{"Old": 5}), newest, other, failed, runOf(40, 4, 1, 64, 1000), profiledRun(50, 1, 2, nil))
	profiles, err := maker.Profiles(ctx, db, "benchmark=matmul")
	ok(t, err)
	if len(profiles) != 2 || profiles[1].Name != "bs=1" || profiles[1].Run.RunID != newest.RunID {
		t.Fatalf("%d profiles, %+v", len(profiles), profiles)
	}
	f, err := maker.Operators(profiles)
	sound(t, f, err)
	parts, err := summary.OperatorMixes(ctx, db, []string{newest.RunID, other.RunID})
	ok(t, err)
	seen := 0
	for _, k := range f.Series[0].Marks {
		for _, p := range parts[k.Run] {
			if strings.HasPrefix(f.Y.Categories[int(k.Y)], p.Operator[:4]) {
				if k.Value != p.Share || !strings.Contains(k.Text, f.X.Categories[int(k.X)]) || !strings.HasSuffix(k.Command, " --ops") {
					t.Errorf("%+v is not %+v", k, p)
				}
				seen++
			}
		}
	}
	if got := strings.Join(f.Y.Categories, ","); seen != 4 || got != "Conv,MatMul,Soft<max>·[2J" {
		t.Errorf("%d cells, %s", seen, got)
	}
}

// operatorsOf returns the figure of the operators of runs.
func operatorsOf(t *testing.T, runs ...schema.Run) *chart.Figure {
	t.Helper()
	profiles, err := maker.Profiles(ctx, stored(t, runs...), "")
	ok(t, err)
	f, err := maker.Operators(profiles)
	sound(t, f, err)
	return f
}

// TestOperatorsOfMany: of many points and operators those are drawn that are said to be, and of none it is said how there are some.
func TestOperatorsOfMany(t *testing.T) {
	var runs []schema.Run
	for i := range 30 {
		took := map[string]int64{}
		for k := range 25 {
			took[fmt.Sprintf("op%02d", k)] = int64(1 + k)
		}
		runs = append(runs, profiledRun(i, 0, int64(i+1), took))
	}
	f := operatorsOf(t, runs...)
	notes := strings.Join(f.Notes, "\n")
	if f.Marks() != 24*20 || !strings.Contains(notes, "24 of 30 points drawn") || !strings.Contains(notes, "20 of 25 operators drawn") || f.Y.Categories[0] != "op24" {
		t.Errorf("%d marks, %q, %q", f.Marks(), f.Y.Categories, notes)
	}
	if _, err := maker.Operators([]chartdata.Profile{}); err == nil || !strings.Contains(err.Error(), "bench --profile ort") {
		t.Error(err)
	}
}

// TestOperatorsAlike: two operators with long names that begin and end alike are two rows that look different.
func TestOperatorsAlike(t *testing.T) {
	begin, end := "void "+strings.Repeat("cutlass::", 20), strings.Repeat("::kernel", 10)
	f := operatorsOf(t, profiledRun(1, 1, 1, map[string]int64{begin + "float" + end: 300, begin + "half" + end: 100}))
	if names := f.Y.Categories; len(names) != 2 || names[0] == names[1] {
		t.Errorf("%q", names)
	}
}

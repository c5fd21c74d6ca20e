package compare_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// sessionsApart returns runs of nine sessions, a day apart: the base is the second to last, the head the last one. The base has a
// point that the head lacks, and one on another machine.
func sessionsApart() (all, base []schema.Run) {
	n := 0
	of := func(session int, level float64) []schema.Run {
		return querytest.RunsOf(&n, session, func(r *schema.Run) { r.BlockIndex = nil }, wobble(level)...)
	}
	for k := range 8 {
		all = append(all, of(1+k, 1000*(1+.002*float64(k%3-1)))...)
	}
	before := slices.IndexFunc(all, func(r schema.Run) bool { return r.SessionID == querytest.SessionID(8) })
	base = slices.Clone(all[before:])
	base = append(base, querytest.RunsOf(&n, 8, func(r *schema.Run) { r.Variant, r.BlockIndex = "gone", nil }, wobble(500)...)...)
	base = append(base, querytest.RunsOf(&n, 8, func(r *schema.Run) { r.Env.Machine, r.BlockIndex = "elsewhere", nil }, wobble(500)...)...)
	all = append(all[:before], base...)
	return append(all, of(9, 1300)...), base
}

// TestBaseDB: a base with stores of its own, such as one read from a file, is compared as if its runs were stored
// with the others, including the earlier sessions of the stores, even if these also contain its runs.
func TestBaseDB(t *testing.T) {
	t.Parallel()
	all, base := sessionsApart()
	stored, file := querytest.SealedRuns(t, all), querytest.SealedRuns(t, base)
	session := "session=" + base[0].SessionID
	for _, limit := range []int{0, 5} {
		want := mustCompare(t, stored, compare.Request{Base: session + " machine=" + base[0].Env.Machine, Head: "session=last", Inputs: true, Limit: limit})
		got := mustCompare(t, stored, compare.Request{BaseDB: file, BaseFile: "b.json", Head: "session=last", Inputs: true, Limit: limit})
		if len(got.Rows) != 2 || got.Points[0].History != 8 || !slices.ContainsFunc(got.Rows, func(r compare.Row) bool { return r.Verdict == judge.Regressed }) {
			t.Fatalf("%d rows, history %d: %+v", len(got.Rows), got.Points[0].History, got.Rows)
		}
		if !slices.ContainsFunc(got.Rows, func(r compare.Row) bool { return r.Verdict == compare.Missing && r.Identity.Variant == "gone" }) {
			t.Errorf("no row says what is missing: %+v", got.Rows)
		}
		cells := func(c compare.Comparison) string {
			return fmt.Sprint(answer.TableOf(compare.Fields(true), c.Rows).Rows)
		}
		valuetest.Equal(t, cells(got), cells(want), "limit", limit)
		if got.Base.Filter != "b.json" || got.Head.Filter != "session=last" || got.Base.Runs != 2*len(wobble(1)) {
			t.Errorf("the sides are %+v and %+v", got.Base, got.Head)
		}
	}
	if got := mustCompare(t, stored, compare.Request{BaseDB: file, Base: "variant=gone", Head: "session=last variant=null"}); len(got.Rows) == 0 || got.Base.Runs != len(wobble(1)) {
		t.Errorf("a filter of the base finds %d runs", got.Base.Runs)
	}
	bare := mustCompare(t, querytest.SealedRuns(t, all[len(all)-len(wobble(1)):]), compare.Request{BaseDB: file, Head: "session=last", Limit: 5})
	if !slices.ContainsFunc(bare.Rows, func(r compare.Row) bool { return r.Identity.Variant == "gone" }) {
		t.Errorf("what the file alone has has no name: %+v", bare.Rows)
	}
	for _, p := range bare.Points {
		if p.Verdict != compare.Missing && p.Reason != judge.Sessions {
			t.Errorf("without earlier sessions a point is %s %s", p.Verdict, p.Reason)
		}
	}
}

// TestBaseDBRefusals: a base is neither compared with its own session nor with nothing.
func TestBaseDBRefusals(t *testing.T) {
	t.Parallel()
	all, base := sessionsApart()
	stored, file := querytest.SealedRuns(t, all), querytest.SealedRuns(t, base)
	for _, c := range []struct{ base, head, says string }{
		{"", "session=" + base[0].SessionID, "runs of the same session"},
		{"variant=nowhere", "session=last", "variant=nowhere matches no run (1 session in this store)"},
		{"", "variant=nowhere", "variant=nowhere matches no run (9 sessions in this store)"},
		{"bench", "session=last", "filter"},
	} {
		_, err := compare.Compare(t.Context(), stored, compare.Request{BaseDB: file, Base: c.base, Head: c.head})
		valuetest.Fails(t, err, c.says, c.base, c.head)
	}
}

// TestFileWithoutMetric: a base file without the only metric that was asked for is refused, as each of its points would count as added. Of
// several metrics it may lack some.
func TestFileWithoutMetric(t *testing.T) {
	t.Parallel()
	all, base := sessionsApart()
	for i := range all {
		all[i].Metrics = append(all[i].Metrics, all[i].Metrics[0])
		all[i].Metrics[len(all[i].Metrics)-1].Name = "cpu_user"
	}
	stored, file := querytest.SealedRuns(t, all), querytest.SealedRuns(t, base)
	req := compare.Request{BaseDB: file, BaseFile: "b.json", Head: "session=last", Metrics: []string{"cpu_user"}}
	_, err := compare.Compare(t.Context(), stored, req)
	querytest.WantInput(t, err, "compare: b.json has no metric cpu_user, but latency: neurolens bless --metric cpu_user --to FILE makes a baseline file")
	req.Metrics = []string{"latency", "cpu_user"}
	mustCompare(t, stored, req)
}

// TestCompareEmptyStore: a store without runs is named as the reason, before what a session would need.
func TestCompareEmptyStore(t *testing.T) {
	t.Parallel()
	_, err := compare.Compare(t.Context(), querytest.SealedRuns(t, nil), compare.Request{Base: "session=last"})
	querytest.WantInput(t, err, "compare: the store has no runs yet")
}

package query_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestTelemetryChangesNoTimes: answers about times are the same with readings of the device and runs under profilers in the store as without
// them. Only how many runs there are differs.
func TestTelemetryChangesNoTimes(t *testing.T) {
	t.Parallel()
	seeds := uint64(2)
	if querytest.Long() {
		seeds = 20
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			plain, watched := runsOfSessions(rand.New(rand.NewPCG(48, seed)))
			want, got := timesOf(t, plain), timesOf(t, watched)
			for question, answer := range want {
				valuetest.Equal(t, got[question], answer, question)
				if len(answer) < 100 {
					t.Errorf("%s: the answer is %q", question, answer)
				}
			}
		})
	}
}

// runsOfSessions returns runs of ten sessions, of which the last one has two sides. The second list has the same runs with readings, and for
// each point of each session a run under a profiler, which took ten times as long.
func runsOfSessions(random *rand.Rand) (plain, watched []schema.Run) {
	n := 0
	for session := range 10 {
		sides := []string{""}
		if session == 9 {
			sides = []string{"base", "head"}
		}
		for _, side := range sides {
			for batch := range int64(3) {
				level := 1000 * float64(batch+1) * (1 + .2*random.Float64())
				values := make([]float64, 6)
				for i := range values {
					values[i] = level * (1 + .03*random.NormFloat64())
				}
				edit := querytest.On(side, batch)
				own := querytest.RunsOf(&n, session, edit, values...)
				plain = append(plain, own...)
				for _, r := range own {
					watched = append(watched, runtest.Telemetry(r, 1980, 1410))
				}
				n++
				watched = append(watched, runtest.Telemetry(querytest.RunsOf(&n, session, func(r *schema.Run) {
					edit(r)
					r.Purpose = schema.PurposeProfile
					r.Ops = []schema.Op{{Name: "gemm", DurationNS: new(int64(9)), Count: new(int64(2))}}
				}, 10*level)[0], 300))
			}
		}
	}
	return plain, watched
}

// timesOf returns all that a store of runs says of times, by question.
func timesOf(t *testing.T, runs []schema.Run) map[string]string {
	ctx, db := t.Context(), querytest.SealedRuns(t, runs)
	all := map[string]string{}
	rows := func(question string, table answer.Table, but ...string) {
		var kept []int
		for i, c := range table.Columns {
			if !slices.Contains(but, c.Name) {
				kept = append(kept, i)
			}
		}
		var text strings.Builder
		for _, row := range table.Rows {
			for _, i := range kept {
				fmt.Fprint(&text, table.Columns[i].Name, "=", row[i], " ")
			}
			text.WriteString("\n")
		}
		all[question] = text.String()
	}
	listed := valuetest.Must(db.List(ctx, query.ListRequest{Filter: "purpose=measure"}))
	all["ls"] = asJSON(t, listed.Runs)
	groups := valuetest.Must(db.Groups(ctx, query.GroupRequest{By: []string{"session_id", "batch_size"}}))
	rows("groups", answer.TableOf(groups.Fields(), groups.Groups), "runs", "statuses")
	best := valuetest.Must(db.Groups(ctx, query.GroupRequest{By: []string{"session_id"}, Best: true}))
	rows("best", answer.TableOf(best.Fields(), best.Groups), "runs", "statuses")
	for name, req := range map[string]compare.Request{
		"compare sides":    {Base: "session=last", Inputs: true},
		"compare sessions": {Base: "session=last~2", Head: "session=last~1", Inputs: true},
		"gate":             {Base: "session=last~2", Head: "session=last~1", Inputs: true, Rules: judge.Rules{Gate: true}},
	} {
		c := valuetest.Must(compare.Compare(ctx, db, req))
		rows(name, answer.TableOf(compare.Fields(true), c.Rows), "base_clock_sm", "head_clock_sm")
		all[name] += fmt.Sprintf("%+v", c.Gate())
	}
	past := valuetest.Must(history.Read(ctx, db, history.Request{}))
	rows("history", answer.TableOf(history.Fields(), past.Rows))
	report, _, err := summary.Read(ctx, db, summary.Request{Metrics: []string{"latency"}})
	valuetest.OK(t, err)
	for i := range report.Points {
		p := &report.Points[i]
		p.Runs, p.Profiled, p.ByStatus = 0, 0, nil
	}
	for i := range report.Comparisons {
		for k := range report.Comparisons[i].Sides {
			report.Comparisons[i].Sides[k].Runs = 0
		}
	}
	all["points of the report"] = asJSON(t, report.Points)
	all["trends of the report"] = asJSON(t, report.Trends)
	all["comparisons of the report"] = asJSON(t, []any{report.Comparisons, report.Pairs})
	all["leaders of the report"] = asJSON(t, report.Leaders)
	return all
}

package query_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// roleVariable makes the test binary one of roles, a whole process to be timed, and nothing else.
const roleVariable = "NEUROLENS_QUERY_TEST_ROLE"

// lsColumns are what a listing for people shows.
var lsColumns = []string{
	"suite", "benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len", "params", "machine", "started_at", "status",
	"unit", "n_samples", "p50", "p99",
}

// roles are the whole processes, given a store.
var roles = map[string]func(store string) error{
	"bare DuckDB": func(string) error {
		db, err := sql.Open("duckdb", "")
		if err != nil {
			return err
		}
		var one int
		if err := db.QueryRow("SELECT 1").Scan(&one); err != nil {
			return err
		}
		return db.Close()
	},
	"newest 20":      list(query.ListRequest{Limit: 20}),
	"column filter":  list(query.ListRequest{Limit: 20, Filter: "batch_size>=8 precision=fp32"}),
	"unit filter":    list(query.ListRequest{Limit: 20, Filter: "p99<1.5ms dim=64,128"}),
	"session=last":   list(query.ListRequest{Limit: 20, Filter: "session=last"}),
	"filter, sorted": list(query.ListRequest{Limit: 20, Filter: "batch_size>=2", Sort: []string{"-p99"}}),
	"SQL group by": func(store string) error {
		db, err := query.Open(context.Background(), []string{store}, query.Options{})
		if err != nil {
			return err
		}
		_, err = db.SQL(context.Background(), "SELECT batch_size, median(p50) FROM runs GROUP BY ALL ORDER BY ALL")
		return err
	},
}

func list(req query.ListRequest) func(string) error {
	return func(store string) error {
		db, err := query.Open(context.Background(), []string{store}, query.Options{})
		if err != nil {
			return err
		}
		req.Columns = lsColumns
		l, err := db.List(context.Background(), req)
		if err != nil {
			return err
		}
		if len(l.Rows) != 20 {
			return fmt.Errorf("%d rows", len(l.Rows))
		}
		return db.Close()
	}
}

func TestMain(m *testing.M) {
	role, store, ok := strings.Cut(os.Getenv(roleVariable), "@")
	if !ok {
		os.Exit(m.Run())
	}
	if err := roles[role](store); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// fullRun is a run with most columns set and 1,000 samples, as a real one has.
func fullRun(n int) schema.Run {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	return newRun(n, 0, func(r *schema.Run) {
		r.Suite, r.Variant, r.BackendVersion, r.SessionID = "quickstart", "plain", "1.2.3", sessionID(n/250)
		r.Applied = map[string]string{"threads": "2", "seed": "1"}
		r.Work = schema.Work{Bytes: new(int64(1 << 20)), Flops: new(1e9), Items: new(32.0)}
		r.Stages = schema.Stages{Setup: new(int64(5e6)), Warmup: new(int64(9e6)), Measure: new(int64(9e8)), Teardown: new(int64(1e5))}
		r.BlockIndex, r.PositionIndex = new(int64(n/4)), new(int64(n%4))
		e := &r.Env
		e.HostID, e.Hostname, e.OS, e.OSKernel, e.CPUModel = "0123456789abcdef", "lab3", "Debian 13", "6.12.1", "Some CPU @ 3.0 GHz"
		e.PythonVersion, e.GitCommit, e.GitBranch, e.GitDirty = "3.13.1", strings.Repeat("9f3c", 10), "main", new(false)
		for i := range 40 {
			e.Facts[fmt.Sprintf("fact.number.%d", i)] = fmt.Sprint("value ", i)
		}
		e.Missing = map[string]string{"gpu.name": "absent", "cpu.governor": "permission"}
		ticks := make([]int64, 1000)
		for i := range ticks {
			ticks[i] = 100_000 + random.Int64N(50_000)
		}
		m := schema.Metric{Name: "latency", Unit: "ns", Better: schema.BetterLower, Clock: "monotonic", Level: schema.LevelIteration, Tick: 1, Ticks: ticks}
		m.Summary = stat.Summarize(m.Values())
		memory := schema.Metric{Name: "peak_memory", Unit: "B", Better: schema.BetterLower, Level: schema.LevelProcess, Tick: 1, Ticks: []int64{50 << 20}}
		memory.Summary = stat.Summarize(memory.Values())
		r.Metrics, r.Primary = []schema.Metric{m, memory}, "latency"
	})
}

// BenchmarkProcess times whole processes over a store of 1,000 live runs, in turn with a process that only opens DuckDB
// and selects 1, and reports the ratio of the medians:
//
//	go test -run '^$' -bench Process -benchtime 20x ./query
func BenchmarkProcess(b *testing.B) {
	runs := make([]schema.Run, 1000)
	for i := range runs {
		runs[i] = fullRun(i)
	}
	store := newStore(b, runs...)
	names := []string{"bare DuckDB", "newest 20", "column filter", "unit filter", "session=last", "filter, sorted", "SQL group by"}
	wall, cpu := map[string][]time.Duration{}, map[string][]time.Duration{}
	for b.Loop() {
		for _, name := range names {
			w, c := timed(b, name, store)
			wall[name], cpu[name] = append(wall[name], w), append(cpu[name], c)
		}
	}
	for _, name := range names {
		w, c := median(wall[name]), median(cpu[name])
		ratio, cpuRatio := w.Seconds()/median(wall[names[0]]).Seconds(), c.Seconds()/median(cpu[names[0]]).Seconds()
		b.ReportMetric(ratio, strings.ReplaceAll(name, " ", "_")+"/bare")
		b.Logf("%-16s %6.1f ms  %5.2f x    CPU %6.1f ms  %5.2f x", name, w.Seconds()*1e3, ratio, c.Seconds()*1e3, cpuRatio)
	}
}

// timed runs a role and gives the time that passed and the CPU time it took.
func timed(b *testing.B, role, store string) (wall, cpu time.Duration) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role+"@"+store)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%s: %v: %s", role, err, out)
	}
	return time.Since(began), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

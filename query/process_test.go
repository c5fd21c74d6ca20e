package query_test

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// roleVariable makes the test binary one of roles, a whole process to be timed, and nothing else.
const roleVariable = "NEUROLENS_QUERY_TEST_ROLE"

// lsColumns are what a listing for people shows.
var lsColumns = []string{
	"suite", "benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len", "params", "machine", "started_at", "status",
	"unit", "n_samples", "p50", "p99",
}

// roles are the whole processes, given a store. Those of List want as many rows as their limit.
var roles = map[string]func(store string) error{
	"bare DuckDB": func(string) error {
		db, err := stdsql.Open("duckdb", "")
		if err != nil {
			return err
		}
		var one int
		if err := db.QueryRow("SELECT 1").Scan(&one); err != nil {
			return err
		}
		return db.Close()
	},
	"newest 20":        list(query.ListRequest{Limit: 20}),
	"column filter":    list(query.ListRequest{Limit: 20, Filter: "batch_size>=8 precision=fp32"}),
	"parameter filter": list(query.ListRequest{Limit: 20, Filter: "dim=64 precision=fp32"}),
	"tag filter":       list(query.ListRequest{Limit: 20, Filter: "tag.who=me"}),
	"unit filter":      list(query.ListRequest{Limit: 20, Filter: "p99<1.5ms dim=64,128"}),
	"session=last":     list(query.ListRequest{Limit: 20, Filter: "session=last"}),
	"filter, sorted":   list(query.ListRequest{Limit: 20, Filter: "batch_size>=2", Sort: []string{"-p99"}}),
	"SQL group by": asked(func(ctx context.Context, db *query.DB) error {
		_, err := sql.Select(ctx, db, "SELECT batch_size, median(p50) FROM runs GROUP BY ALL ORDER BY ALL")
		return err
	}),
	"SQL quantiles": asked(func(ctx context.Context, db *query.DB) error {
		_, err := sql.Select(ctx, db, "SELECT count(*), sum(q[1]), sum(q[2]) FROM (SELECT list_quantile_cont(ticks, [0.5, 0.99]) AS q FROM samples)")
		return err
	}),
	"all columns":       pages(query.ListRequest{}),
	"all pages":         pages(query.ListRequest{}, lsColumns...),
	"all pages, sorted": pages(query.ListRequest{Sort: []string{"-p99"}}, lsColumns...),
	"all filtered":      pages(query.ListRequest{Filter: "dim!=64"}, lsColumns...),
	"groups": asked(func(ctx context.Context, db *query.DB) error {
		_, err := db.Groups(ctx, query.GroupRequest{Filter: "status=ok", By: []string{"point_id"}})
		return err
	}),
	"show by suffix": asked(func(ctx context.Context, db *query.DB) error {
		newest, err := db.Newest(ctx)
		if err != nil {
			return err
		}
		_, err = db.Show(ctx, newest[14:])
		return err
	}),
	"export": asked(func(ctx context.Context, db *query.DB) error {
		dir, err := os.MkdirTemp("", "")
		if err != nil {
			return err
		}
		_, err = export.Write(ctx, db, export.Request{Dest: dir, Format: export.Parquet})
		return errors.Join(err, os.RemoveAll(dir))
	}),
}

func asked(ask func(context.Context, *query.DB) error) func(string) error {
	return func(store string) error {
		db, err := query.Open(context.Background(), []string{store}, query.Options{})
		if err != nil {
			return err
		}
		return errors.Join(ask(context.Background(), db), db.Close())
	}
}

func list(req query.ListRequest) func(string) error {
	return asked(func(ctx context.Context, db *query.DB) error {
		l, err := db.List(ctx, req)
		if err == nil && len(l.Runs) != req.Limit {
			err = fmt.Errorf("%d runs", len(l.Runs))
		}
		return err
	})
}

func pages(req query.ListRequest, columns ...string) func(string) error {
	return asked(func(ctx context.Context, db *query.DB) error {
		rows, total := 0, 0
		err := db.Pages(ctx, req, columns, func(page query.Page) error {
			rows += len(page.Rows)
			total = page.Total
			return nil
		})
		if err == nil && rows != total {
			err = fmt.Errorf("%d rows of %d", rows, total)
		}
		return err
	})
}

func TestMain(m *testing.M) {
	role, store, ok := strings.Cut(os.Getenv(roleVariable), "@")
	if !ok {
		os.Exit(runtest.InMemory{M: m}.Run())
	}
	if err := roles[role](store); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// BenchmarkProcess times whole processes over a store of 1,000 live runs, in turn with a process that only opens DuckDB
// and selects 1, and reports the ratio of the medians:
//
//	go test -run '^$' -bench Process -benchtime 20x ./query
func BenchmarkProcess(b *testing.B) {
	runs := make([]schema.Run, 1000)
	for i := range runs {
		runs[i] = querytest.FullRun(i)
	}
	store := querytest.NewStore(b, runs...)
	compareWith(b, store, "newest 20", "column filter", "unit filter", "session=last", "filter, sorted", "SQL group by")
}

// compare times roles in turn with a bare process.
func compareWith(b *testing.B, store string, names ...string) {
	names = append([]string{"bare DuckDB"}, names...)
	wall, cpu := map[string][]time.Duration{}, map[string][]time.Duration{}
	peak := map[string]int64{}
	for b.Loop() {
		for _, name := range names {
			state, w := timed(b, name, store)
			wall[name], cpu[name] = append(wall[name], w), append(cpu[name], state.UserTime()+state.SystemTime())
			if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
				peak[name] = max(peak[name], usage.Maxrss)
			}
		}
	}
	for _, name := range names {
		w, c := median(wall[name]), median(cpu[name])
		ratio, cpuRatio := w.Seconds()/median(wall[names[0]]).Seconds(), c.Seconds()/median(cpu[names[0]]).Seconds()
		b.ReportMetric(ratio, strings.ReplaceAll(name, " ", "_")+"/bare")
		b.Logf("%-18s %8.1f ms  %7.2f x    CPU %8.1f ms  %7.2f x   peak %4d MiB", name, w.Seconds()*1e3, ratio, c.Seconds()*1e3, cpuRatio, peak[name]>>10)
	}
}

// timed runs a role and gives what it took and the time that passed.
func timed(b *testing.B, role, store string) (state *os.ProcessState, wall time.Duration) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role+"@"+store)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	valuetest.OK(b, err, role, out)
	return cmd.ProcessState, time.Since(began)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// storeVariable names a directory for the stores of BenchmarkSealed, which take minutes to make, to be used again.
const storeVariable = "NEUROLENS_BENCH_STORES"

// BenchmarkSealed times whole processes over stores of up to a million runs in sealed files of 24 with 1,000 events:
//
//	NEUROLENS_BENCH_STORES=/tmp/stores go test -run '^$' -bench Sealed/1008000 -benchtime 10x -timeout 1h ./query
func BenchmarkSealed(b *testing.B) {
	for _, runs := range []int{1_008, 10_080, 100_800, 1_008_000} {
		s := querytest.Synthetic{Runs: runs, PerFile: 24, Samples: 20, Packs: min(runs/100_000+1, 6), Events: 1000}
		b.Run(fmt.Sprint(runs), func(b *testing.B) {
			compareWith(b, benchStore(b, s), "newest 20", "column filter", "parameter filter", "tag filter", "filter, sorted", "show by suffix")
		})
	}
}

// BenchmarkWholeStore is about answers that read everything, and their memory.
func BenchmarkWholeStore(b *testing.B) {
	s := querytest.Synthetic{Runs: 1_008_000, PerFile: 24, Samples: 20, Packs: 6, Events: 1000}
	compareWith(b, benchStore(b, s), "groups", "all columns", "all pages", "all filtered", "all pages, sorted", "SQL group by", "export")
}

// benchStore gives the store of that kind, made the first time.
func benchStore(b *testing.B, s querytest.Synthetic) string {
	dir := os.Getenv(storeVariable)
	if dir == "" {
		dir = b.TempDir()
	}
	dir = filepath.Join(dir, strings.Trim(strings.ReplaceAll(fmt.Sprint(s), " ", "-"), "{}"))
	if _, err := os.Stat(dir); err != nil {
		querytest.SyntheticStore(b, dir+".part", s)
		valuetest.OK(b, os.Rename(dir+".part", dir))
	}
	return dir
}

// BenchmarkQuantiles compares medians and p99 of every run by SQL with quickselect in Go of the same values in memory, on
// as many threads, and prints how fast the one is in terms of the other:
//
//	NEUROLENS_BENCH_STORES=/tmp/stores go test -run '^$' -bench Quantiles -benchtime 5x -timeout 1h ./query
func BenchmarkQuantiles(b *testing.B) {
	s := querytest.Synthetic{Runs: 100_000, PerFile: 10_000, Samples: 1_000}
	store := benchStore(b, s)
	const shared = 1000 // runs whose values stand for those of all: more than the caches hold, less than memory
	values := make([][]float64, shared)
	for n := range values {
		for _, tick := range querytest.SyntheticTicks(rand.New(rand.NewPCG(7, uint64(n))), s.Samples) {
			values[n] = append(values[n], float64(tick))
		}
	}
	var bySQL, bare, inGo []time.Duration
	for b.Loop() {
		_, whole := timed(b, "SQL quantiles", store)
		_, start := timed(b, "bare DuckDB", store)
		bySQL, bare = append(bySQL, whole), append(bare, start)
		inGo = append(inGo, selectAll(values)*time.Duration(s.Runs/shared))
	}
	ratio := median(inGo).Seconds() / (median(bySQL) - median(bare)).Seconds()
	b.ReportMetric(ratio, "quickselect/SQL")
	b.Logf("%d samples: SQL %.2f s, quickselect %.2f s, %.2f x as fast", s.Runs*s.Samples, median(bySQL).Seconds(), median(inGo).Seconds(), ratio)
}

// selectAll times the median and p99 of each list on all cores.
func selectAll(values [][]float64) time.Duration {
	began := time.Now()
	var all sync.WaitGroup
	threads := runtime.GOMAXPROCS(0)
	for thread := range threads {
		all.Go(func() {
			scratch := make([]float64, 0, len(values[0]))
			for i := thread; i < len(values); i += threads {
				scratch = append(scratch[:0], values[i]...)
				n := len(scratch)
				// The p99 first: then the median is among what is to the left of it.
				at := (n - 1) * 99 / 100
				quickselect(scratch, at)
				quickselect(scratch[:at], (n-1)/2)
			}
		})
	}
	all.Wait()
	return time.Since(began)
}

// quickselect moves the k-th smallest value to place k, and what is smaller to the left of it.
func quickselect(v []float64, k int) {
	for left, right := 0, len(v)-1; left < right; {
		pivot := v[(left+right)/2]
		i, j := left, right
		for i <= j {
			for v[i] < pivot {
				i++
			}
			for v[j] > pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			right = j
		case k >= i:
			left = i
		default:
			return
		}
	}
}

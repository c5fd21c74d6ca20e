package benchmarks

import (
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// What the store of quantiles has: 100 million samples.
const (
	sampledRuns = 100_000
	perRun      = 1000
)

// sampled gives the directory of the store of quantiles. Its runs are ingested.
func sampled(tb testing.TB) string {
	tb.Helper()
	return made(tb, "samples", func(dir string) error { return ingestSweep(dir, sampledRuns, perRun) })
}

func ingestSweep(dir string, runs, samples int) error {
	if err := ingest.Init(dir); err != nil {
		return err
	}
	store, err := ingest.Open(dir, "scale")
	if err != nil {
		return err
	}
	sweep := runtest.NewSweep(1, samples)
	_, err = store.AppendAll(func(yield func(schema.Valid, error) bool) {
		for range runs {
			if !yield(schema.Check(sweep.Next())) {
				return
			}
		}
	})
	return errors.Join(err, store.Close())
}

// quantiles are texts of SQL that give the sums of the medians and of the 99th percentiles of every run.
var quantiles = []struct {
	name, text string
	goal       float64 // ratio to the quickselect; 0: none
}{
	{"ticks", "SELECT sum(q[1]), sum(q[2]) FROM (SELECT list_aggregate(ticks, 'quantile_cont', [0.5, 0.99]) q FROM samples)", 1 / .45},
	{"values", `SELECT sum(q[1]), sum(q[2]) FROM (SELECT list_aggregate("values", 'quantile_cont', [0.5, 0.99]) q FROM samples)`, 0},
	{"long", "SELECT sum(q[1]), sum(q[2]) FROM (SELECT quantile_cont(value, [0.5, 0.99]) q FROM samples_long GROUP BY run_id)", 0},
}

// BenchmarkQuantiles computes p50 and p99 of every run over 100 million samples: by whole processes of `query`, and by
// a quickselect over the same values in memory, on as many cores.
func BenchmarkQuantiles(b *testing.B) {
	dir, neurolens := sampled(b), program(b)
	samples := readSamples(b, dir)
	all := make([]series, len(quantiles))
	var selected series
	var want [2]float64
	for range 3 {
		start := time.Now()
		want = selectAll(samples)
		selected.add(measured{Wall: time.Since(start)})
		for i, q := range quantiles {
			all[i].add(startQuery(b, neurolens, dir, q.text))
		}
	}
	var lines []line
	for i, q := range quantiles {
		checkSums(b, all[i].out, want)
		lines = append(lines, turns("query of "+q.name, &all[i], &selected).within(q.goal, 0))
	}
	report(b, "a quickselect of the values in memory", lines...)
}

func startQuery(tb testing.TB, neurolens, dir, text string) measured {
	tb.Helper()
	return start(tb, "NEUROLENS_FORMAT=csv", neurolens, "--store", dir, "query", text)
}

// checkSums compares an answer with the sums of a quickselect.
func checkSums(tb testing.TB, answer []byte, want [2]float64) {
	tb.Helper()
	records, err := csv.NewReader(strings.NewReader(string(answer))).ReadAll()
	if err != nil || len(records) != 2 || len(records[1]) != 2 {
		tb.Fatalf("%q is no answer: %v", answer, err)
	}
	for i, text := range records[1] {
		if got, err := strconv.ParseFloat(text, 64); err != nil || math.Abs(got/want[i]-1) > 1e-9 {
			tb.Errorf("the answer is %s, where quickselect has %v", text, want[i])
		}
	}
}

// readSamples reads the samples of all runs.
func readSamples(tb testing.TB, dir string) [][]int64 {
	tb.Helper()
	var all [][]int64
	column := slices.IndexFunc(schema.Samples.Columns, func(c *schema.Column) bool { return c.Name == "ticks" })
	err := filepath.WalkDir(filepath.Join(dir, schema.SamplesDir), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		file, err := table.Open(f, info.Size(), schema.Samples)
		if err != nil {
			return err
		}
		for reader := file.Reader("ticks"); ; {
			row, err := reader.Read()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			all = append(all, row[column].([]int64))
		}
	})
	must(tb, err)
	return all
}

// selectAll sums the medians and the 99th percentiles of all runs.
func selectAll(samples [][]int64) (sums [2]float64) {
	cores := runtime.GOMAXPROCS(0)
	parts := make([][2]float64, cores)
	var wg sync.WaitGroup
	for core := range cores {
		wg.Go(func() {
			var scratch []int64
			for i := core; i < len(samples); i += cores {
				scratch = append(scratch[:0], samples[i]...)
				parts[core][0] += quantile(scratch, 0.5)
				parts[core][1] += quantile(scratch, 0.99)
			}
		})
	}
	wg.Wait()
	for _, p := range parts {
		sums[0] += p[0]
		sums[1] += p[1]
	}
	return sums
}

// quantile is that of type 7, by a quickselect that leaves the values in another order.
func quantile(values []int64, p float64) float64 {
	at := p * float64(len(values)-1)
	k := int(at)
	lower := quickselect(values, k)
	if k+1 == len(values) {
		return float64(lower)
	}
	upper := slices.Min(values[k+1:])
	return float64(lower) + (at-float64(k))*float64(upper-lower)
}

// quickselect gives the value that stands at k when they are sorted, and puts no larger ones before it and no smaller
// ones behind it.
func quickselect(values []int64, k int) int64 {
	low, high := 0, len(values)-1
	for low < high {
		pivot := median3(values[low], values[low+(high-low)/2], values[high])
		i, j := low, high
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for values[j] > pivot {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			high = j
		case k >= i:
			low = i
		default:
			return values[k]
		}
	}
	return values[k]
}

func median3(a, b, c int64) int64 {
	return max(min(a, b), min(max(a, b), c))
}

// TestQuickselect compares it with sorting.
func TestQuickselect(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	for n := 1; n < 300; n++ {
		values := make([]int64, n)
		for i := range values {
			values[i] = random.Int64N(int64(1 + n/2))
		}
		sorted := slices.Sorted(slices.Values(values))
		for k := range sorted {
			if got := quickselect(values, k); got != sorted[k] {
				t.Fatalf("value %d of %v is %d", k, sorted, got)
			}
		}
	}
}

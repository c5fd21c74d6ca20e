package table

import (
	"math"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// entropyFloor returns the entropy of normal distributions on the grid of the clock, one for each run, in bytes a sample: no
// code without loss is shorter. Their spread is taken from the differences of neighbours, so that drift and tail, which
// cost more, do not raise the floor.
func entropyFloor(runs []schema.Run) float64 {
	const quartile = 0.6745 // of the standard normal distribution: the median of its absolute value
	bits := 0.0
	for _, r := range runs {
		ticks := r.Metrics[0].Ticks
		steps := make([]float64, len(ticks)-1)
		for i := range steps {
			steps[i] = math.Abs(float64(ticks[i+1] - ticks[i]))
		}
		slices.Sort(steps)
		sigma := steps[len(steps)/2] / quartile / math.Sqrt2
		bits += math.Log2(sigma * math.Sqrt(2*math.Pi*math.E))
	}
	return bits / 8 / float64(len(runs))
}

// clocks are ticks in ns, and how many times the entropy floor a sample may take on disk.
var clocks = map[string]struct{ tick, most float64 }{"1ns": {1, 1.2}, "500ns": {500, 1.4}}

// sampleSize gives the bytes a sample of a sealed file, all columns included, and the entropy floor.
func sampleSize(tb testing.TB, tick float64, runs int) (perSample, floor float64) {
	tb.Helper()
	sweep := runtest.NewSweep(1, 1000)
	sweep.Tick = tick
	made, rows, samples := sweepRows(sweep, runs)
	return float64(len(write(tb, schema.Samples, rows[schema.Samples]).content)) / float64(samples), entropyFloor(made)
}

func TestSampleSize(t *testing.T) {
	for name, clock := range clocks {
		if size, floor := sampleSize(t, clock.tick, 1000); size > clock.most*floor {
			t.Errorf("%s: %.3f bytes a sample are %.3f times the floor, want at most %v", name, size, size/floor, clock.most)
		}
	}
}

// BenchmarkSampleSize reports what TestSampleSize holds.
func BenchmarkSampleSize(b *testing.B) {
	for name, clock := range clocks {
		b.Run(name, func(b *testing.B) {
			var size, floor float64
			for b.Loop() {
				size, floor = sampleSize(b, clock.tick, 3000)
			}
			b.ReportMetric(floor, "floor-B/sample")
			b.ReportMetric(size, "B/sample")
			b.ReportMetric(size/floor, "ratio")
		})
	}
}

// sweepRows returns runs of a sweep, their rows, and the number of their samples.
func sweepRows(sweep *runtest.Sweep, n int) ([]schema.Run, map[*schema.Table][][]any, int) {
	rows := map[*schema.Table][][]any{}
	var runs []schema.Run
	samples := 0
	for range n {
		r := sweep.Next()
		runs = append(runs, r)
		for table, of := range rowsOf(r) {
			rows[table] = append(rows[table], of...)
		}
		samples += len(r.Metrics[0].Ticks)
	}
	return runs, rows, samples
}

// runSize gives the bytes a run of a file of runs.
func runSize(tb testing.TB, rows [][]any) float64 {
	tb.Helper()
	return float64(len(write(tb, schema.Runs, rows).content)) / float64(len(rows))
}

// TestRunSize: small files have a small footer, and no dictionaries as long as these would take more room.
func TestRunSize(t *testing.T) {
	for n, most := range map[int]float64{24: 770, 72: 420, 200: 290} {
		_, rows, _ := sweepRows(runtest.NewSweep(1, 30), n)
		if size := runSize(t, rows[schema.Runs]); size > most {
			t.Errorf("%d runs: %.0f B a run, want at most %v", n, size, most)
		}
	}
}

// TestLiveSize holds the size of the live file of a run of 1,000 samples, of which 4.3 kB are values.
func TestLiveSize(t *testing.T) {
	r := runtest.NewSweep(1, 1000).Next()
	content := valuetest.Must(testEncoder().Encode(&r, schema.DigestOf(&r)))
	if most := 11_000; len(content) > most {
		t.Errorf("%d B, want at most %d", len(content), most)
	}
}

// BenchmarkRunSize reports bytes a run of files of runs, by how many are in the file.
func BenchmarkRunSize(b *testing.B) {
	for name, n := range map[string]int{"24": 24, "200": 200, "1000": 1000, "20000": 20_000} {
		b.Run(name, func(b *testing.B) {
			_, rows, _ := sweepRows(runtest.NewSweep(1, 30), n)
			var size float64
			for b.Loop() {
				size = runSize(b, rows[schema.Runs])
			}
			b.ReportMetric(size, "B/run")
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/float64(n)*1e6, "us/run")
		})
	}
}

package table

import (
	"math"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
)

// entropyFloor is the entropy of normal distributions on the grid of the clock, one for each run, in bytes a sample: no
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

// BenchmarkSampleSize reports bytes a sample of a sealed file, all columns included, and the ratio to the entropy floor,
// which is to be at most 1.2 for a clock of 1 ns and 1.4 for one of 500 ns; and bytes a run of files of runs.
func BenchmarkSampleSize(b *testing.B) {
	for name, tick := range map[string]float64{"1ns": 1, "500ns": 500} {
		b.Run(name, func(b *testing.B) {
			sweep := runtest.NewSweep(1, 1000)
			sweep.Tick = tick
			runs, rows, samples := sweepRows(sweep, 3000)
			var size int
			for b.Loop() {
				size = len(write(b, schema.Samples, rows[schema.Samples]).content)
			}
			floor := entropyFloor(runs)
			perSample := float64(size) / float64(samples)
			b.ReportMetric(floor, "floor-B/sample")
			b.ReportMetric(perSample, "B/sample")
			b.ReportMetric(perSample/floor, "ratio")
			b.ReportMetric(float64(samples)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Msamples/s")
		})
	}
}

// sweepRows are runs of a sweep, their rows, and the number of their samples.
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

// BenchmarkRunSize reports bytes a run of files of runs, by how many are in the file.
func BenchmarkRunSize(b *testing.B) {
	for name, n := range map[string]int{"24": 24, "200": 200, "1000": 1000, "20000": 20_000} {
		b.Run(name, func(b *testing.B) {
			_, rows, _ := sweepRows(runtest.NewSweep(1, 30), n)
			var size int
			for b.Loop() {
				size = len(write(b, schema.Runs, rows[schema.Runs]).content)
			}
			b.ReportMetric(float64(size)/float64(n), "B/run")
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/float64(n)*1e6, "us/run")
		})
	}
}

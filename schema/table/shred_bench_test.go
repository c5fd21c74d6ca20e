package table

import (
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
)

// sampleStruct is a row of samples as parquet-go's Deconstruct takes one: with a pointer for each value that may be NULL.
type sampleStruct struct {
	RunID       string    `parquet:"run_id"`
	Metric      string    `parquet:"metric"`
	Unit        *string   `parquet:"unit,optional"`
	Better      *string   `parquet:"better,optional"`
	Clock       *string   `parquet:"clock,optional"`
	Level       *string   `parquet:"level,optional"`
	Tick        *float64  `parquet:"tick,optional"`
	Ticks       []int64   `parquet:"ticks,optional,list"`
	Reals       []float64 `parquet:"reals,optional,list"`
	WarmupTicks []int64   `parquet:"warmup_ticks,optional,list"`
	Samples     *int64    `parquet:"n_samples,optional"`
	Min         *float64  `parquet:"min,optional"`
	Max         *float64  `parquet:"max,optional"`
	Mean        *float64  `parquet:"mean,optional"`
	StdDev      *float64  `parquet:"stddev,optional"`
	P50         *float64  `parquet:"p50,optional"`
	P99         *float64  `parquet:"p99,optional"`
}

// BenchmarkShred makes the values of a row of 1,000 samples, with the shredder of this package and with parquet-go's
// Deconstruct, which would need such a struct for each table and for the shapes of live files beside the registry of columns.
func BenchmarkShred(b *testing.B) {
	sweep := runtest.NewSweep(1, 1000)
	run := sweep.Next()
	b.Run("shredder", func(b *testing.B) {
		row := rowsOf(run)[schema.Samples][0]
		fields := newFields(schema.Samples.Columns)
		values := newLeaves(fields)
		b.ReportAllocs()
		for b.Loop() {
			values.reset()
			for _, f := range fields {
				put(&values, f, row[f.place], level{})
			}
		}
	})
	b.Run("deconstruct", func(b *testing.B) {
		m := &run.Metrics[0]
		unit, better, clock, of := m.Unit, string(m.Better), m.Clock, string(m.Level)
		n, value := int64(len(m.Ticks)), 1.5
		row := sampleStruct{
			RunID: run.RunID, Metric: m.Name, Unit: &unit, Better: &better, Clock: &clock, Level: &of, Tick: &m.Tick, Ticks: m.Ticks, Samples: &n,
			Min: &value, Max: &value, Mean: &value, StdDev: &value, P50: &value, P99: &value,
		}
		shape := parquet.SchemaOf(&row)
		var values parquet.Row
		b.ReportAllocs()
		for b.Loop() {
			values = shape.Deconstruct(values[:0], &row)
		}
	})
}

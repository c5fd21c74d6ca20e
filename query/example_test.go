package query_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
)

// A listing has the runs that match, in the requested order. Several stores answer as one; none of them is written to.
func ExampleDB_List() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "runs_store")
	store(path, 1, 2, 4, 8)

	ctx := context.Background()
	db, err := query.Open(ctx, []string{path}, query.Options{MemoryLimit: 1 << 30})
	if err != nil {
		panic(err)
	}
	defer db.Close()
	found, err := db.List(ctx, query.ListRequest{
		Filter: "batch_size>=2 p50<1ms", Sort: []string{"-p50"}, Limit: 2,
	})
	if err != nil {
		panic(err)
	}
	for _, run := range found.Runs {
		fmt.Println(run.Benchmark, *run.BatchSize, *run.Median, run.Unit)
	}
	fmt.Println(len(found.Runs), "of", found.Total)
	_, err = db.List(ctx, query.ListRequest{Filter: "batchsize=2"})
	fmt.Println(err)
	// Output:
	// matmul 4 600000 ns
	// matmul 2 300000 ns
	// 2 of 2
	// filter: batchsize=2  (offset 0): no column or parameter is called "batchsize"; did you mean batch_size?
}

// store makes a store of a run for each batch size.
func store(path string, sizes ...int64) {
	if err := ingest.Init(path); err != nil {
		panic(err)
	}
	s, err := ingest.Open(path, "example 1.0")
	if err != nil {
		panic(err)
	}
	for i, size := range sizes {
		run := schema.Run{
			Source: "example", Benchmark: "matmul", BatchSize: &size, Purpose: schema.PurposeMeasure, Status: schema.StatusOK,
			StartedAt: time.Date(2026, 11, 21, 8, 0, i, 0, time.UTC), Primary: "latency",
			Metrics: []schema.Metric{{Name: "latency", Unit: "ns", Tick: 1, Ticks: []int64{150_000 * size}}},
		}
		run.RunID, run.PointID = schema.NewULID(run.StartedAt).String(), schema.PointID(&run)
		if err := s.Append(run); err != nil {
			panic(err)
		}
	}
	if err := s.Close(); err != nil {
		panic(err)
	}
}

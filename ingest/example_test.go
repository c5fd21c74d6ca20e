package ingest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/schema"
)

// A run is on the disk when Append returns. Summaries are computed on the way; the run of the caller stays as it is.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "runs_store")
	if err := ingest.Init(path); err != nil { // nothing happens where a store is there already
		panic(err)
	}
	store, err := ingest.Open(path, "example 1.0")
	if err != nil {
		panic(err)
	}
	defer store.Close()

	run := schema.Run{
		Source: "example", Benchmark: "matmul", Purpose: schema.PurposeMeasure, Status: schema.StatusOK,
		StartedAt: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC), Primary: "latency",
		Metrics: []schema.Metric{{Name: "latency", Unit: "ns", Tick: 1, Ticks: []int64{1500, 1510, 1490}}},
	}
	run.RunID, run.PointID = schema.NewULID(run.StartedAt).String(), schema.PointID(&run)
	fmt.Println(store.Append(run))

	listing, err := schema.List(os.DirFS(path), schema.Scope{})
	fmt.Println(len(listing.Live), "run in a file of its own:", listing.Live[0].Run.String() == run.RunID, err)
	// Output:
	// <nil>
	// 1 run in a file of its own: true <nil>
}

// A run that does not validate is refused, and nothing is written. What was measured is hashed into point_id: a field that is
// set later than that makes another point, which is seen here.
func ExampleStore_Append() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "runs_store")
	if err := ingest.Init(path); err != nil {
		panic(err)
	}
	store, err := ingest.Open(path, "example 1.0")
	if err != nil {
		panic(err)
	}
	defer store.Close()

	run := schema.Run{
		Source: "example", Benchmark: "matmul", Purpose: schema.PurposeMeasure, Status: schema.StatusOK,
		StartedAt: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC),
	}
	run.RunID, run.PointID = schema.ULIDFrom(run.StartedAt, [10]byte{}).String(), schema.PointID(&run)
	run.BatchSize = new(int64(8))
	fmt.Println(errors.Unwrap(store.Append(run)))
	// Output:
	// run 01M7YHX3000000000000000000: point_id is "7884147ab9b10bb7bcd8a13a85b167fa", but its fields give a24f6c5dda41a7204dce6183c45a9476
}

package runfile

import (
	"fmt"
	"math"
	"time"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// Columns that are the same in runs and samples.
var (
	startedPlace = schema.Runs.Place("started_at")
	primaryPlace = schema.Runs.Place("metric")
	metricPlace  = schema.Samples.Place("metric")
	countPlace   = schema.Samples.Place("n_samples")
	ticksPlace   = schema.Samples.Place("ticks")
	realsPlace   = schema.Samples.Place("reals")
	sharedPlaces = shared()
)

// shared returns the indices, in runs and in samples, of the columns that runs copies from the row of its primary metric.
func shared() [][2]int {
	var pairs [][2]int
	for i := primaryPlace; i < len(schema.Runs.Columns); i++ {
		pairs = append(pairs, [2]int{i, schema.Samples.Place(schema.Runs.Columns[i].Name)})
	}
	return pairs
}

func sameSummary(run, samples []any) bool {
	for _, p := range sharedPlaces {
		if p[1] >= 0 && !sameScalar(run[p[0]], samples[p[1]]) {
			return false
		}
	}
	return true
}

func sameScalar(a, b any) bool {
	x, real := a.(float64)
	y, also := b.(float64)
	return a == b || real && also && math.IsNaN(x) && math.IsNaN(y)
}

// sameInstant reports whether the time in a run's id equals its start, or 0 if that is unknown.
func sameInstant(id schema.ULID, started any) bool {
	at, known := started.(time.Time)
	if !known {
		return id.Time().UnixMilli() == 0
	}
	return id.Time().UnixMilli() == max(at.UnixMilli(), 0) // an id has no time before 1970
}

// lengthOf returns the number of raw samples in a row, or -1 if it has none.
func lengthOf(row []any) int {
	if ticks, ok := row[ticksPlace].([]int64); ok {
		return len(ticks)
	}
	if reals, ok := row[realsPlace].([]float64); ok {
		return len(reals)
	}
	return -1
}

// CheckRow compares the values that a run stores twice: the time in its id, and the summary of its primary metric.
func CheckRow(live *table.Live) error {
	id, err := schema.ParseULID(live.RunID)
	if err != nil {
		return fmt.Errorf("%w: %w", schema.ErrDamaged, err)
	}
	if started := live.Run[startedPlace]; !sameInstant(id, started) {
		return fmt.Errorf("%w: the id of run %s does not match its start time, %v", schema.ErrDamaged, live.RunID, started)
	}
	for _, row := range live.Samples {
		if n, ok := row[countPlace].(int64); ok && lengthOf(row) >= 0 && int64(lengthOf(row)) != n {
			return fmt.Errorf("%w: run %s has %d samples of %v, but its summary counts %d", schema.ErrDamaged, live.RunID, lengthOf(row), row[metricPlace], n)
		}
		if row[metricPlace] == live.Run[primaryPlace] && !sameSummary(live.Run, row) {
			return fmt.Errorf("%w: run %s and its samples differ in the summary of %v", schema.ErrDamaged, live.RunID, row[metricPlace])
		}
	}
	return nil
}

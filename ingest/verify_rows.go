package ingest

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// Columns that say the same in runs and samples.
var (
	startedPlace = placeOf("started_at")
	primaryPlace = placeOf("metric")
	metricPlace  = placeIn(schema.Samples, "metric")
	countPlace   = placeIn(schema.Samples, "n_samples")
	ticksPlace   = placeIn(schema.Samples, "ticks")
	realsPlace   = placeIn(schema.Samples, "reals")
	sharedPlaces = shared()
)

func placeIn(t *schema.Table, name string) int {
	return slices.IndexFunc(t.Columns, func(c *schema.Column) bool { return c.Name == name })
}

// shared are the places of the columns that runs has from the row of its primary metric, in runs and in samples.
func shared() [][2]int {
	var pairs [][2]int
	for i := primaryPlace; i < len(schema.Runs.Columns); i++ {
		pairs = append(pairs, [2]int{i, placeIn(schema.Samples, schema.Runs.Columns[i].Name)})
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

// sameInstant tells whether the time of a run's id is that of its start, or 0 where that is not known.
func sameInstant(id schema.ULID, started any) bool {
	at, known := started.(time.Time)
	if !known {
		return id.Time().UnixMilli() == 0
	}
	return id.Time().UnixMilli() == at.UnixMilli()
}

// lengthOf is the number of raw samples in a row; -1 where it has none to count.
func lengthOf(row []any) int {
	if ticks, ok := row[ticksPlace].([]int64); ok {
		return len(ticks)
	}
	if reals, ok := row[realsPlace].([]float64); ok {
		return len(reals)
	}
	return -1
}

// rowsSum is a sum over the hashes of rows: equal for equal rows in whatever order and however they are spread over
// files.
type rowsSum struct {
	rows     int
	low, top uint64
}

func (s *rowsSum) add(hash [16]byte) {
	var carry uint64
	s.low, carry = bits.Add64(s.low, binary.BigEndian.Uint64(hash[8:]), 0)
	s.top, _ = bits.Add64(s.top, binary.BigEndian.Uint64(hash[:8]), carry)
	s.rows++
}

func (s *rowsSum) addAll(o rowsSum) {
	var carry uint64
	s.low, carry = bits.Add64(s.low, o.low, 0)
	s.top, _ = bits.Add64(s.top, o.top, carry)
	s.rows += o.rows
}

func (s *rowsSum) remove(hash [16]byte) {
	var borrow uint64
	s.low, borrow = bits.Sub64(s.low, binary.BigEndian.Uint64(hash[8:]), 0)
	s.top, _ = bits.Sub64(s.top, binary.BigEndian.Uint64(hash[:8]), borrow)
	s.rows--
}

package query

import (
	"fmt"
	"math"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// A time that was measured at a clock of 1,410 MHz says nothing about one at 1,980 MHz. So there is no verdict between values whose clocks
// differ by more than clockShare. The clock of a run is the median reading of a device while it measured.

// clockShare is the share by which the clocks of two values may differ.
const clockShare = .01

// Clocks are the clocks of the multiprocessors of a device on both sides of a point or of a change, in MHz.
type Clocks struct{ Base, Head float64 }

// Differ reports whether the clocks differ by more than the allowed share of the lower one. Clocks that are not known do not.
func (c *Clocks) Differ() bool {
	return c != nil && max(c.Base, c.Head) > (1+clockShare)*min(c.Base, c.Head)
}

// DeviceClocks are the clocks of devices, in MHz, by metric: clock_sm, clock_sm.1 and so on.
type DeviceClocks map[string]float64

// ClocksOf returns the clocks of the device whose clocks differ most; nil if the sides have no device in common.
func ClocksOf(base, head DeviceClocks) (most *Clocks) {
	distance := func(c *Clocks) float64 { return math.Abs(math.Log(c.Head / c.Base)) }
	for metric, of := range base {
		c := &Clocks{of, head[metric]}
		if min(c.Base, c.Head) > 0 && (most == nil || distance(c) > distance(most)) {
			most = c
		}
	}
	return most
}

// DependsOnClock reports whether a metric of this unit and level is a time, a rate or an energy. Readings of the device are none, although
// power has a rate.
func DependsOnClock(unit string, level schema.Level) bool {
	return level != schema.LevelInterval && (unit == "ns" || unit == "mJ" || strings.HasSuffix(unit, "/s"))
}

// ReadingsOfClocks returns the SQL of the readings of the clock, as columns metric and p50 of s, of the runs r of a table.
func ReadingsOfClocks(src *scan.Sources, runs string) string {
	return fmt.Sprintf("%s AS r JOIN %s AS s ON s.run_id = r.run_id AND (s.metric = %[3]s OR starts_with(s.metric, %[3]s || '.'))",
		runs, src.Nested(schema.Samples, ""), duck.Literal(schema.MetricClock))
}

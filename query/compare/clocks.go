package compare

import (
	"context"
	"database/sql/driver"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// A time that was measured at a clock of 1,410 MHz says nothing about one at 1,980 MHz. So a point whose sides ran at clocks that differ by
// more than clockShare has no verdict. The clock of a side is the median over its runs of the median reading of a device while it measured;
// of several devices, the one counts whose clocks differ most.

// clockShare is the share by which the clocks of the sides may differ.
const clockShare = .01

// clocks are the clocks of the devices at a point on one side, in MHz, by metric.
type clocks map[string]float64

// Clocks are the clocks of the multiprocessors on both sides of a point, in MHz.
type Clocks struct{ Base, Head float64 }

// differ reports whether the clocks differ by more than the allowed share of the lower one.
func (c *Clocks) differ() bool {
	return c != nil && max(c.Base, c.Head) > (1+clockShare)*min(c.Base, c.Head)
}

// clocksOf returns the clocks of the device whose clocks differ most; nil if the sides have no device in common.
func clocksOf(base, head clocks) (most *Clocks) {
	distance := func(c *Clocks) float64 { return math.Abs(math.Log(c.Head / c.Base)) }
	for metric, of := range base {
		c := &Clocks{of, head[metric]}
		if min(c.Base, c.Head) > 0 && (most == nil || distance(c) > distance(most)) {
			most = c
		}
	}
	return most
}

// dependsOnClock reports whether a metric is a time, a rate or an energy. Readings of the device are none, although power has a rate.
func (p *pairing) dependsOnClock() bool {
	k := p.kind()
	return k.Level != string(schema.LevelInterval) && (k.Unit == "ns" || k.Unit == "mJ" || strings.HasSuffix(k.Unit, "/s"))
}

// readClocks reads the clocks of all points, once for all metrics. It reads nothing unless both sides have runs with readings.
func (m *comparison) readClocks(ctx context.Context, base, head sideFacts) error {
	if base["env."+schema.FactDevice] == nil || head["env."+schema.FactDevice] == nil {
		return nil
	}
	for i, s := range []*selectedSide{m.base, m.head} {
		of := map[pointKey]clocks{}
		m.clocks[i] = of
		rows, args, err := s.rows(groupColumns{})
		if err != nil {
			return err
		}
		text := fmt.Sprintf("s.metric, median(s.p50) FROM (SELECT run_id, point_id, machine FROM %s WHERE status = 'ok') AS r JOIN %s AS s"+
			" ON s.run_id = r.run_id AND (s.metric = %[3]s OR starts_with(s.metric, %[3]s || '.')) GROUP BY point_id, m, s.metric",
			rows, s.sel.Src.Nested(schema.Samples, ""), duck.Literal(schema.MetricClock))
		if err := s.eachPoint(ctx, text, args, func(key pointKey, row []driver.Value) {
			if of[key] == nil {
				of[key] = clocks{}
			}
			of[key][duck.Text(row[0])] = numberIn(row[1])
		}); err != nil {
			return err
		}
	}
	return nil
}

// useClocks sets the clocks of points.
func (m *comparison) useClocks(matched []*pairing) {
	for _, p := range matched {
		if p.hasBothSides() {
			p.clocks = clocksOf(m.clocks[0][p.base.key()], m.clocks[1][p.head.key()])
		}
	}
}

// readDevices reads which GPU measured each point, once for all metrics. It reads nothing unless both sides have runs of sessions that measured
// several at once, which share out the points.
func (m *comparison) readDevices(ctx context.Context, base, head sideFacts) error {
	if base["env."+schema.FactMeasuredDevice] == nil || head["env."+schema.FactMeasuredDevice] == nil {
		return nil
	}
	columns, err := scan.RunColumns([]string{"run_id", "point_id", "machine", "status", "purpose", "env"})
	if err != nil {
		return err
	}
	for i, s := range []*selectedSide{m.base, m.head} {
		of := map[pointKey][]any{}
		m.devices[i] = of
		rows := s.sel.Src.Scan(scan.WithColumns(columns, s.sel.Columns), s.sel.RestrictedTo(scan.IsMeasurement))
		text := fmt.Sprintf("list(DISTINCT env[%s] ORDER BY env[%[1]s]) FROM %s WHERE status = 'ok' GROUP BY point_id, m", duck.Literal(schema.FactMeasuredDevice), rows)
		if err := s.eachPoint(ctx, text, s.sel.Args, func(key pointKey, row []driver.Value) { of[key] = duck.List(row[0]) }); err != nil {
			return err
		}
	}
	return nil
}

// useDevices notes the points whose sides are known to be of different GPUs.
func (m *comparison) useDevices(matched []*pairing) {
	for _, p := range matched {
		if !p.hasBothSides() {
			continue
		}
		base, head := m.devices[0][p.base.key()], m.devices[1][p.head.key()]
		p.otherDevice = len(base) > 0 && len(head) > 0 && !slices.Equal(base, head)
	}
}

package compare

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// dependsOnClock reports whether a metric is a time, a rate or an energy.
func (p *pairing) dependsOnClock() bool {
	k := p.kind()
	return query.DependsOnClock(k.Unit, schema.Level(k.Level))
}

// readClocks reads the clocks of all points, once for all metrics: of a point on a side, the median of its runs. It reads nothing unless
// both sides have runs with readings.
func (m *comparison) readClocks(ctx context.Context, base, head sideFacts) error {
	if base["env."+schema.FactDevice] == nil || head["env."+schema.FactDevice] == nil {
		return nil
	}
	for i, s := range []*selectedSide{m.base, m.head} {
		of := map[pointKey]query.DeviceClocks{}
		m.clocks[i] = of
		rows, args, err := s.rows(groupColumns{})
		if err != nil {
			return err
		}
		ok := "(SELECT run_id, point_id, machine FROM " + rows + " WHERE status = 'ok')"
		text := "s.metric, median(s.p50) FROM " + query.ReadingsOfClocks(s.sel.Src, ok) + " GROUP BY point_id, m, s.metric"
		if err := s.eachPoint(ctx, text, args, func(key pointKey, row []driver.Value) {
			if of[key] == nil {
				of[key] = query.DeviceClocks{}
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
			p.clocks = query.ClocksOf(m.clocks[0][p.base.key()], m.clocks[1][p.head.key()])
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
		rows := s.sel.Src.Scan(scan.WithColumns(columns, s.sel.Columns), s.sel.RestrictedTo(s.purpose))
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

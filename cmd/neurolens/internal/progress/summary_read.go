package progress

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/export"
)

// Read answers from the store, so that what is shown is what was kept: a point and side after the other, in the order of the
// sweep. absent are metrics that no run has.
func (s Summary) Read(ctx context.Context, db *query.DB) (points []query.SessionPoint, absent query.Absent, err error) {
	if points, err = db.SessionPoints(ctx, s.Result.Session, s.counted()); err != nil {
		return nil, absent, err
	}
	if named := s.named(points); len(named) > 0 {
		if absent, err = db.AddMetrics(ctx, points, s.Result.Session, s.counted(), named); err != nil {
			return nil, absent, err
		}
	}
	position := map[string]int{}
	for i, p := range s.Sweep.Planned() {
		position[p.PointID] = i
	}
	slices.SortStableFunc(points, func(x, y query.SessionPoint) int {
		return cmp.Or(position[x.PointID]-position[y.PointID], cmp.Compare(x.Side, y.Side)) // base, then head
	})
	return points, absent, nil
}

// Table is the summary for programs.
func (s Summary) Table(points []query.SessionPoint) answer.Table {
	return answer.TableOf(append(query.SessionPointFields(), query.SessionMetricFields(s.Metrics)...), points)
}

// counted are the runs of earlier sessions that the session counts as its own. Others of these sessions, that failed or
// were of other code, are not what it shows.
func (s Summary) counted() []string {
	var all []string
	for _, p := range s.Result.Plan.Launches {
		if p.Done != nil {
			all = append(all, p.Done.RunID)
		}
	}
	return all
}

// FormatArrow is the format of Stream, for the flag --format.
const FormatArrow = string(export.Arrow)

// Stream writes the runs that the summary counts as an Arrow stream.
func (s Summary) Stream(ctx context.Context, db *query.DB, w io.Writer) error {
	_, err := export.Write(ctx, db, export.Request{Dest: "-", Format: export.Arrow, Session: s.Result.Session, Counted: s.counted(), Stdout: w})
	return err
}

// named are the metrics that are looked for among those of the runs: those that were asked for, or the primary ones of points
// whose ok runs have none.
func (s Summary) named(points []query.SessionPoint) []string {
	if len(s.Metrics) > 0 {
		return s.Metrics
	}
	primary := map[string]string{}
	for _, p := range s.Sweep.Points {
		primary[p.PointID] = p.Primary
	}
	var named []string
	for _, p := range points {
		if name := primary[p.PointID]; name != "" && p.OKRuns > 0 && p.Metric == "" && !slices.Contains(named, name) {
			named = append(named, name)
		}
	}
	return named
}

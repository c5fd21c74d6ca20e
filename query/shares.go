package query

import (
	"context"
	"database/sql/driver"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
)

// SampleStep is a point of an empirical distribution: UpTo samples of its series are at most Value.
type SampleStep struct {
	Value float64
	UpTo  int
}

// SampleCurve is the empirical distribution of a series.
type SampleCurve struct {
	Steps     []SampleStep // ascending; the first is the smallest sample, the last the largest
	Samples   int          // number of samples
	Different int          // number of different values; may be more than there are Steps
}

// SampleShares returns the empirical distributions of the samples per series; series[i] is the series of run i, from 0. Each distribution has at
// most maxSteps steps, but at least 2. All steps lie on the exact distribution; if there are more different values, steps are chosen at
// equal shares. Samples that are not finite are left out and counted in notFinite.
func SampleShares(ctx context.Context, db *DB, of *SampledRuns, series []int, maxSteps int) (curves []SampleCurve, notFinite int, err error) {
	more, all := make([]int64, len(series)), 0
	for i, s := range series {
		more[i], all = int64(s), max(all, s+1)
	}
	buckets := number(max(maxSteps-1, 1))
	const values = `WITH v AS (SELECT more AS series, unnest("values") AS value FROM `
	text := `), d AS (SELECT series, value, count(*) AS n FROM v WHERE isfinite(value) GROUP BY series, value),
c AS (SELECT series, value, (sum(n) OVER w)::BIGINT AS upto, (sum(n) OVER s)::BIGINT AS total, count(*) OVER s AS different, row_number() OVER w AS place
	FROM d WINDOW w AS (PARTITION BY series ORDER BY value), s AS (PARTITION BY series)),
k AS (SELECT *, CASE WHEN place = 1 THEN -1 WHEN different <= ` + buckets + ` THEN place ELSE (upto - 1) * ` + buckets + ` // total END AS bucket FROM c)
SELECT series, value, upto, total, different FROM k QUALIFY row_number() OVER (PARTITION BY series, bucket ORDER BY value DESC) = 1 ORDER BY series, value`
	err = ask(ctx, db, func(r *scan.Reader) error {
		s, err := of.source(ctx, r, more)
		if err != nil {
			return err
		}
		curves, notFinite = make([]SampleCurve, all), 0
		err = s.each(ctx, values, text, func(row []driver.Value) {
			c := &curves[duck.Integer(row[0])]
			c.Steps = append(c.Steps, SampleStep{realSamples(row[1]), int(duck.Integer(row[2]))})
			c.Samples, c.Different = int(duck.Integer(row[3])), int(duck.Integer(row[4]))
		})
		if err != nil {
			return err
		}
		return s.each(ctx, `SELECT count(*) FROM (SELECT unnest("values") AS value FROM `, ") WHERE NOT isfinite(value)", func(row []driver.Value) {
			notFinite = int(duck.Integer(row[0]))
		})
	})
	return curves, notFinite, err
}

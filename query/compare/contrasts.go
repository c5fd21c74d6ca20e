package compare

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// maxContrastRuns is the number of newest runs of a side in which contrasts are searched.
const maxContrastRuns = 1000

// placeFacts are the columns with the position of a run in its session, which are used as facts.
var placeFacts = []string{"block_index", "position_index"}

// hardwareMetrics are metrics of the state of the hardware. They are used as facts; other metrics are results.
var hardwareMetrics = []string{metricClock, "temperature"}

// startedRun is a run with its start in Unix microseconds; 0: unknown.
type startedRun struct {
	judge.ContrastRun
	started int64
}

// contrasts searches facts that distinguish slow from fast runs of the same side.
func (x *explanation) contrasts(ctx context.Context, filters ...string) error {
	var read []startedRun
	err := x.db.Stores().QueryTwo(ctx, x.req.BaseDB.Beside(x.db), func(head, base *scan.Reader) error {
		readers := [2]*scan.Reader{base, head}
		read = nil
		for i, filter := range filters {
			side, err := x.contrastRuns(ctx, readers[i], filter)
			if err != nil {
				return err
			}
			for k := range side {
				side[k].Head = i == 1
			}
			read = append(read, side...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(read, func(a, b startedRun) int { return cmp.Compare(a.started, b.started) })
	runs := make([]judge.ContrastRun, len(read))
	for i, one := range read {
		runs[i] = one.ContrastRun
	}
	point := x.row()
	c := judge.Contrasting{Runs: runs, Names: x.contrastNames(runs), Higher: point.Better == string(schema.BetterHigher)}
	if e := point.Estimates; e != nil {
		c.Margin = e.Margin
		if point.Scale == schema.ScaleRatio {
			c.Margin = math.Log1p(e.Margin)
		}
	}
	found := judge.Contrasts(c)
	x.Facts, x.FewRuns = found.Tested, found.Untestable
	for _, one := range found.All {
		x.contrast(one)
	}
	return nil
}

// contrastNames returns the facts to test, most important first.
func (x *explanation) contrastNames(runs []judge.ContrastRun) []string {
	seen := map[string]bool{}
	for _, r := range runs {
		for name := range r.Facts {
			seen[name] = true
		}
	}
	var all []query.FactDifference
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		d := query.FactDifference{Kind: query.FactKindOf(name), Name: name}
		if !x.req.Facts.Unrelated(d) {
			all = append(all, d)
		}
	}
	slices.SortStableFunc(all, func(a, b query.FactDifference) int { return query.FactRank(a) - query.FactRank(b) })
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = d.Name
	}
	return names
}

// contrastRuns reads the runs of the point on a side that have a location, with their facts.
func (x *explanation) contrastRuns(ctx context.Context, r *scan.Reader, filter string) ([]startedRun, error) {
	s, err := selectSide(ctx, r, filter, scan.IsMeasurement)
	if err != nil {
		return nil, err
	}
	a := groupColumns{Metric: x.row().Metric}
	if len(s.kinds) == 1 && s.kinds[0].Name == a.Metric {
		a.Metric = ""
	}
	rows, args, err := s.rows(a)
	if err != nil {
		return nil, err
	}
	location := scan.LocationSQLOf(schema.ScaleRatio)
	if x.row().Scale == schema.ScaleDifference {
		location = scan.ValueSQL()
	}
	text := fmt.Sprintf("SELECT * FROM (SELECT run_id, session_id, block_index, epoch_us(started_at) AS started, %s AS location FROM %s WHERE status = 'ok')"+
		" WHERE isfinite(location) ORDER BY started DESC NULLS LAST, run_id DESC LIMIT %d", location, rows, maxContrastRuns)
	var ids []schema.ULID
	var runs []startedRun
	err = r.Conn.Query(ctx, duck.Statement{SQL: text, Args: args}, func(row []driver.Value) (err error) {
		one := startedRun{judge.ContrastRun{Session: duck.Text(row[1]), Block: -1}, duck.Integer(row[3])}
		if block, ok := row[2].(int64); ok {
			one.Block = block
		}
		one.Location, _ = row[4].(float64)
		runs = append(runs, one)
		ids, err = scan.AppendID(ids, row[0])
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.Reverse(runs)
	slices.Reverse(ids)
	return runs, contrastFacts(ctx, r, ids, runs, x.row().Metric)
}

// contrastFacts reads the facts of runs.
func contrastFacts(ctx context.Context, r *scan.Reader, ids []schema.ULID, runs []startedRun, own string) error {
	if len(ids) == 0 {
		return nil
	}
	sorted := slices.SortedFunc(slices.Values(ids), scan.CompareIDs)
	known, err := query.Facts(ctx, r, sorted, append([]string{"tags"}, placeFacts...)...)
	if err != nil {
		return err
	}
	for i, id := range ids {
		runs[i].Facts = known[id]
		for name, value := range maps.Clone(known[id]) {
			if tag, ok := strings.CutPrefix(name, "tags."); ok {
				delete(known[id], name)
				known[id]["tag."+tag] = value
			}
		}
	}
	metrics := slices.DeleteFunc(slices.Clone(hardwareMetrics), func(name string) bool { return name == own })
	text := "SELECT run_id, metric, p50 FROM " + r.Src.Of(sorted).Nested(schema.Samples, "") + scan.OfRuns + " WHERE metric IN (SELECT unnest($2::VARCHAR[]))"
	return r.Conn.Query(ctx, duck.Statement{SQL: text, Args: []any{scan.IDTexts(sorted), metrics}}, func(row []driver.Value) error {
		id, err := schema.ParseULID(duck.Text(row[0]))
		if value, ok := row[2].(float64); ok && err == nil && known[id] != nil {
			known[id][duck.Text(row[1])] = schema.CanonicalFloat(value)
		}
		return nil
	})
}

// contrast adds a contrast.
func (x *explanation) contrast(c judge.Contrast) {
	tier, point := unranked, x.row()
	if c.Verdict == judge.Explains || c.Verdict == judge.Opposes {
		tier = tierContrast
	}
	change := point.Scale.Change
	row := ExplainRow{
		Kind: string(ContrastEvidence), Name: conditionText(c.Condition), Unit: point.Unit, Scale: point.Scale, Share: &c.Part, Verdict: string(c.Verdict),
		Estimate: &EvidenceEstimate{change(c.Effect.Value), change(c.Effect.Low), change(c.Effect.High)}, P: &c.P, Adjusted: &c.Adjusted, ConfoundedWith: []string{},
	}
	for _, other := range c.ConfoundedWith {
		row.ConfoundedWith = append(row.ConfoundedWith, conditionText(other))
	}
	if c.Within != "" {
		row.Base, row.Head, row.Tested = counted(c.Base[0], c.Base[1]), counted(c.Head[0], c.Head[1]), x.Facts
		row.Contrast = &ContrastCounts{Within: c.Within, Runs: c.With, Others: c.Others, Sessions: c.WithSessions, OtherSessions: c.OtherSessions}
	}
	x.add(tier, -c.Adjusted, row)
}

// bareWord matches a value that needs no quotes in a filter.
var bareWord = regexp.MustCompile(`^[A-Za-z0-9_./:@+-]+$`)

// conditionText returns a condition in the form of a filter.
func conditionText(c judge.Condition) string {
	switch {
	case c.Operator == "":
		return c.Fact
	case c.Value == "":
		return c.Fact + "=null"
	case bareWord.MatchString(c.Value):
		return c.Fact + c.Operator + c.Value
	}
	return c.Fact + c.Operator + filter.Quote(c.Value)
}

package history

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// entry is at first one run of a series and later, after merge, one session. There may be as many entries as runs in the store, so an
// entry holds indexes instead of texts.
type entry struct {
	began                 int64   // start of the first run in Unix microseconds or, if unknown, of the session
	location              float64 // on the scale of the series, at first the logarithm: minus infinity if plain is not positive; NaN: none
	plain                 float64 // the plain median, in the unit of the metric
	first                 schema.ULID
	session, commit, runs int32 // indexes of interned texts, and the number of runs with a location
	dated                 bool  // began is the start of a run, not of the session
}

// line is a series under construction.
type line struct {
	lineKey
	entries []entry // oldest first
	better  string
	level   schema.Level
	clocks  []query.DeviceClocks // of the entries, nil where not known; only read if a level changed
	scale   schema.Scale
	failed  int     // failed sessions after the last entry: see failedSince
	undated int     // ok runs without a start, which are in no entry
	tied    []entry // of sessions that share their start with another one, before they became one entry
	commits bool    // some session has entries for several commits
	series  trend
	gated   trend // as a gate calls changes; empty: there is no gate

	departure *Departure

	of query.Point // only read if there are rows
}

// lineKey identifies a series.
type lineKey struct{ point, machine, metric, unit string }

// interned stores each different text once. Entries refer to a text by its index.
type interned struct {
	texts  []string
	places map[string]int32
}

func (in *interned) place(text string) int32 {
	at, ok := in.places[text]
	if !ok {
		at = int32(len(in.texts))
		in.texts = append(in.texts, text)
		in.places[text] = at
	}
	return at
}

func (in *interned) text(place int32) string { return in.texts[place] }

// historyRuns and historySummary are the columns that are read. For a metric other than the primary one, historySummary is read
// from the table samples.
var (
	historyRuns    = []string{"run_id", "session_id", "point_id", "side", "purpose", "machine", "status", "stage", "error_kind", "started_at", "git_commit", "warnings"}
	historySummary = []string{"metric", "unit", "better", "level", "p50", "mean", "log_median"}
)

// runsPerWindow is the approximate number of runs that are read at a time: DuckDB keeps whole results in memory. In a pack it decodes a
// whole row group, which has 122,880 runs, for each window that has some of them.
const runsPerWindow = 50_000

// read reads the location of each ok run of each series and the failed runs, and returns the number of both. Failed runs are
// read in the same query, because the status is read anyway.
func (h *historian) read(ctx context.Context, r *scan.Reader, sel scan.Selection) (runs int, err error) {
	columns, err := scan.RunColumns(slices.Concat(historyRuns, historySummary))
	if err != nil {
		return 0, err
	}
	columns = scan.WithColumns(columns, sel.Columns)
	all := duck.Statement{SQL: sel.Src.Scan(columns, sel.RestrictedTo(historyChosen+" AND status = 'ok'")), Args: sel.Args}
	other, err := hasOtherPrimary(ctx, r, all, h.req.Metric)
	if err != nil {
		return 0, err
	}
	windows, err := r.Windows(ctx, sel, h.window)
	if err != nil {
		return 0, err
	}
	chosen := part{Selection: sel, columns: columns}
	if other {
		chosen.metric = h.req.Metric
	}
	for of := range chosen.results(ctx, r.Conn, windows) {
		if of.err != nil {
			return runs, of.err
		}
		err := duck.UseRows(ctx, of.rows, func(row []driver.Value) error {
			runs++
			if row[15] == true {
				return h.addBisected(row)
			}
			if row[9] == true && row[13] == true {
				h.Requests++
			}
			if row[9] != true || row[13] == true {
				h.addFailed(row)
				return nil
			}
			return h.add(row)
		})
		if err != nil {
			return runs, err
		}
	}
	h.Bisected = len(h.bisected)
	h.Matching = len(h.sessions.texts) - h.Bisected
	return runs, nil
}

// part selects runs and their columns.
type part struct {
	scan.Selection
	columns []*schema.Column
	metric  string // to be read from samples; empty: the primary metric of each run
}

// result is the result of a statement.
type result struct {
	rows driver.Rows
	err  error
}

// results runs a statement for each window, up to the first that fails.
func (p part) results(ctx context.Context, c *duck.Conn, windows []scan.Period) iter.Seq[result] {
	return func(yield func(result) bool) {
		for _, b := range windows {
			rows, err := c.Run(ctx, p.within(b))
			used := yield(result{rows, err})
			if err != nil {
				return
			}
			if !used {
				_ = rows.Close() // another error ends the question
				return
			}
		}
	}
}

// within reads the columns of the runs within bounds.
func (p part) within(b scan.Period) duck.Statement {
	p.Src, p.Args = p.Src.Within(b), slices.Clone(p.Args)
	p.Restrict(b)
	rows := p.Src.Scan(p.columns, p.RestrictedTo(historyChosen))
	if p.metric != "" {
		p.Args = append(p.Args, p.metric)
		rows = "(SELECT " + scan.ColumnNamesOf("r", historyRuns) + ", " + scan.ColumnNamesOf("s", historySummary) + " FROM " + rows + " AS r LEFT JOIN " +
			p.Src.Nested(schema.Samples, "") + " AS s ON s.run_id = r.run_id AND s.metric = " + lastText(p.Args) + ")"
	}
	text := "SELECT point_id, machine, metric, unit, better, session_id, git_commit, epoch_us(started_at), run_id, status = 'ok', " +
		scan.LocationSQLOf(schema.ScaleRatio) + ", coalesce(p50, exp(log_median), mean), " + scan.WrongSQL + ", " + scan.FailedRequestsSQL + ", level, " + scan.BisectSQL + " FROM " + rows
	return duck.Statement{SQL: text, Args: p.Args}
}

// historyChosen is the SQL condition of the runs that count, ok or failed.
var historyChosen = scan.IsMeasurement + " AND status NOT IN ('" + strings.Join(notTried, "', '") + "') AND coalesce(side, 'head') = 'head'"

// hasOtherPrimary reports whether a metric has to be read from samples, because it is not the primary metric of every run.
func hasOtherPrimary(ctx context.Context, r *scan.Reader, runs duck.Statement, metric string) (bool, error) {
	if metric == "" {
		return false, nil
	}
	args := append(slices.Clone(runs.Args), metric)
	row, err := r.Conn.One(ctx, duck.Statement{SQL: "SELECT count(*) FROM " + runs.SQL + " WHERE metric IS DISTINCT FROM " + lastText(args), Args: args})
	if err != nil {
		return false, err
	}
	return duck.Integer(row[0]) > 0, nil
}

// lastText returns the SQL of the last argument, a text.
func lastText(args []any) string { return "$" + strconv.Itoa(len(args)) + "::VARCHAR" }

// add adds an ok run.
func (h *historian) add(row []driver.Value) error {
	key := lineKey{duck.Text(row[0]), duck.Text(row[1]), duck.Text(row[2]), duck.Text(row[3])}
	l := h.byKey[key]
	if l == nil {
		l = &line{lineKey: key}
		h.byKey[key] = l
	}
	if better := duck.Text(row[4]); l.better == "" || better != "" && better < l.better {
		l.better = better
	}
	if level := schema.Level(duck.Text(row[14])); l.level == "" || level != "" && level < l.level {
		l.level = level
	}
	first, err := parseRunID(row[8])
	if err != nil {
		return err
	}
	session := duck.Text(row[5])
	e := entry{location: math.NaN(), plain: math.NaN(), first: first, session: h.sessions.place(session), commit: h.commits.place(duck.Text(row[6]))}
	if e.began, e.dated = startOf(row[7], session); e.began == noStart {
		h.Undated++
		l.undated++
		return nil
	}
	ratio, _ := row[10].(float64)
	if plain, ok := row[11].(float64); ok && !math.IsNaN(plain) && !math.IsInf(plain, 0) && !math.IsNaN(ratio) && !math.IsInf(ratio, 1) {
		e.location, e.plain, e.runs = ratio, plain, 1
	} else {
		h.NoValue++
	}
	l.entries = append(l.entries, e)
	return nil
}

// parseRunID parses the id of a stored run.
func parseRunID(value driver.Value) (schema.ULID, error) {
	id, err := schema.ParseULID(duck.Text(value))
	if err != nil {
		return id, &duck.Error{Message: fmt.Sprintf("run_id: %v", err), Kind: duckdb.ErrorTypeIO}
	}
	return id, nil
}

// noStart is the start of a run if neither the run nor its session has one. Such a run cannot be ordered.
const noStart = math.MinInt64

// startOf returns the start of a run, in Unix microseconds, or noStart. dated is false if the run has no start; then the result is the
// start of its session.
func startOf(value driver.Value, session string) (began int64, dated bool) {
	if began, dated = value.(int64); dated {
		return began, true
	}
	if id, err := schema.ParseULID(session); err == nil && id.Dated() {
		return id.Time().UnixMicro(), false
	}
	return noStart, false
}

// setScale decides how the values of a series are compared: by their difference if its metric always is, or if a value is zero or negative.
func (l *line) setScale() {
	if l.scale = schema.ScaleOf(l.metric); slices.ContainsFunc(l.entries, func(e entry) bool { return e.plain <= 0 }) {
		l.scale = schema.ScaleDifference
	}
	if l.scale == schema.ScaleDifference {
		for i := range l.entries {
			l.entries[i].location = l.entries[i].plain
		}
	}
}

// merge combines the entries of each session and commit into one, and drops those without a location. Sessions that began at the same time
// have no order, so they become one. unknown is the commit of sessions with several.
func (l *line) merge(unknown int32) {
	l.setScale()
	kept := l.combined(nil)
	if l.tie(kept, unknown) {
		kept = l.combined(kept[:0])
	}
	for i := range kept {
		l.commits = l.commits || i > 0 && kept[i-1].session == kept[i].session
	}
	l.entries = kept
	slices.SortFunc(l.entries, earlier)
}

// combined appends an entry for each session and commit with a location, in the order of the sessions. It sorts the entries of the runs and
// does not change them.
func (l *line) combined(into []entry) []entry {
	slices.SortFunc(l.entries, func(a, b entry) int {
		return cmp.Or(a.compareSession(&b), cmp.Compare(a.location, b.location))
	})
	for rest := l.entries; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].compareSession(&rest[0]) == 0 {
			n++
		}
		if e := together(rest[:n]); e.runs > 0 {
			into = append(into, e)
		}
		rest = rest[n:]
	}
	return into
}

// compareSession orders entries by session and commit.
func (e *entry) compareSession(of *entry) int {
	return cmp.Or(cmp.Compare(e.session, of.session), cmp.Compare(e.commit, of.commit))
}

// tie merges sessions that began at the same time: it gives their runs the session of the first of these runs. It reports whether there
// are such sessions. sessions has one entry for each session and commit.
func (l *line) tie(sessions []entry, unknown int32) bool {
	byStart := slices.SortedFunc(slices.Values(sessions), earlier)
	moments := map[[2]int32]entry{} // by session and commit
	for rest := byStart; len(rest) > 0; {
		first, n := rest[0], 1
		for n < len(rest) && rest[n].began == first.began {
			n++
		}
		same := rest[:n]
		if rest = rest[n:]; !slices.ContainsFunc(same, func(e entry) bool { return e.session != first.session }) {
			continue
		}
		if slices.ContainsFunc(same, func(e entry) bool { return e.commit != first.commit }) {
			first.commit = unknown
		}
		for _, e := range same {
			moments[[2]int32{e.session, e.commit}] = first
		}
		l.tied = append(l.tied, same...)
	}
	for i := range l.entries {
		e := &l.entries[i]
		if of, is := moments[[2]int32{e.session, e.commit}]; is {
			e.session, e.commit = of.session, of.commit
		}
	}
	return len(moments) > 0
}

// earlier orders entries by time.
func earlier(a, b entry) int {
	if a.began != b.began {
		return cmp.Compare(a.began, b.began)
	}
	return a.first.Compare(b.first)
}

// together combines entries into one with the median location and the median of the plain values. The entries are sorted: first those
// without a location, then by ascending location.
func together(all []entry) entry {
	e := all[len(all)-1]
	e.runs = 0
	for _, one := range all {
		e.runs += one.runs
		if scan.CompareIDs(one.first, e.first) < 0 {
			e.first = one.first
		}
		if one.dated && (!e.dated || one.began < e.began) {
			e.began, e.dated = one.began, true
		}
	}
	if n := int(e.runs); n > 0 {
		located := all[len(all)-n:]
		e.location = located[n/2].location
		if n%2 == 0 {
			e.location = e.location/2 + located[n/2-1].location/2
		}
		const few = 32 // number of runs up to which no heap memory is needed
		var space [few]float64
		values := space[:0]
		for _, one := range located {
			values = append(values, one.plain)
		}
		e.plain = stat.Median(values)
	}
	return e
}

package compare

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// sameSessions reports whether some session has runs of both sides.
func (m *comparison) sameSessions() bool {
	return slices.ContainsFunc(m.base.Sessions, func(id string) bool {
		_, there := slices.BinarySearch(m.head.Sessions, id)
		return there
	})
}

// sides selects the runs of both sides.
func (m *comparison) sides(ctx context.Context, ofBase, ofHead *scan.Reader) error {
	base, head := m.req.Base, m.req.Head
	names := [2]string{"BASE", "HEAD"}
	switch {
	case m.req.Axis != "":
		word := m.req.Axis + "=" + m.req.Reference
		base, head = bothFilters(m.req.Base, word), bothFilters(m.req.Base, "not "+word)
		names = [2]string{word, "not " + word}
	case strings.TrimSpace(m.req.Head) == "" && ofBase == ofHead:
		base, head = bothFilters(m.req.Base, "side=base"), bothFilters(m.req.Base, "side=head")
		names = [2]string{"side=base", "side=head"}
	}
	var err error
	switch m.base, err = m.side(ctx, ofBase, m.req.BaseFile, names[0], base); {
	case errors.Is(err, errNoSides):
		return m.sidesOfSweep(ctx, ofHead)
	case err != nil:
		return err
	}
	if m.head, err = m.side(ctx, ofHead, m.req.HeadFile, names[1], head); err != nil {
		return err
	}
	if m.hasOwnStores() {
		if err := m.sameMachines(ctx, names[0]); err != nil {
			return err
		}
	}
	m.base.Filter, m.head.Filter = cmp.Or(m.req.BaseFile, m.base.Filter), cmp.Or(m.req.HeadFile, m.head.Filter)
	return m.checkDisjoint(ctx)
}

// errNoSides is the error of a selection without a session of two sides.
var errNoSides = errors.New("no session has two sides")

// sidesOfSweep selects the sides that the sweeps of the runs name: the points with the value of their baseline, and the others. It is an
// ErrInput if the sweeps name several baselines, or none and a gate asks, or the runs are of a file: its second side was forgotten.
func (m *comparison) sidesOfSweep(ctx context.Context, r *scan.Reader) error {
	s, err := selectSide(ctx, r, m.ofPasses(m.req.Base), m.purpose())
	if err != nil {
		return err
	}
	name := cmp.Or(m.req.BaseFile, nameOf("the store", m.req.Base))
	if s.Runs == 0 {
		why, err := r.EmptyReasons(ctx, s.sel)
		return cmp.Or(err, answer.InputError("compare: %s matches no run (%s)%s", name, sessionsKnown(ctx, r), strings.Join(append([]string{""}, why...), "; ")))
	}
	named, err := s.baselines(ctx)
	switch {
	case err != nil:
		return err
	case len(named) == 1:
		axis, value, _ := strings.Cut(named[0], "=")
		return m.compareWith(ctx, r, query.Contrast{Axis: axis, Value: value})
	case len(named) > 1:
		return answer.InputError("compare: the sweeps of %s have different baselines (%s): %s chooses one, or name BASE and HEAD", name, answer.Brief(strings.Join(named, ", ")), m.matrixCommand(named[0]))
	}
	points, medians, err := s.points(ctx)
	if err != nil {
		return err
	}
	contrasts, work := query.ContrastsOf(points, medians)
	switch {
	case m.req.BaseFile != "" && (len(contrasts) == 0 || !contrasts[0].Named()):
		return answer.InputError("compare: %s has neither two sides nor a baseline: name a second file to compare it with, or --matrix AXIS=VALUE", name)
	case len(contrasts) == 0:
		return answer.InputError("compare: %s has neither two sides nor a baseline: name BASE and HEAD, two filters", name)
	case m.req.Rules.Gate:
		return answer.InputError("compare: %s has neither two sides nor a baseline, and a gate does not guess one: %s compares the values of %s", name, m.matrixCommand(contrasts[0].String()), contrasts[0].Axis)
	}
	contrasts[0].Work = work
	if !contrasts[0].Named() {
		m.guesses = contrasts
	}
	return m.compareWith(ctx, r, contrasts[0])
}

// compareWith selects the points with a value of an axis as the base, and the others as the head.
func (m *comparison) compareWith(ctx context.Context, r *scan.Reader, c query.Contrast) (err error) {
	m.req.Axis, m.req.Reference, m.req.Paired = c.Axis, filter.QuoteFor(c.Axis, c.Value), true
	if m.axis, err = axisOf(c.Axis); err != nil {
		return err
	}
	m.contrast = c
	return m.sides(ctx, r, r)
}

// matrixCommand returns the command that compares the selection with a value of an axis. Other commands than compare have no such flag.
func (m *comparison) matrixCommand(contrast string) string {
	return "neurolens compare --matrix " + quoteWord(contrast) + " " + quoteWord(cmp.Or(m.req.BaseFile, m.req.Base))
}

// quoteWord returns a text as a word of a shell.
func quoteWord(text string) string {
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !strings.ContainsRune("=./:@%+,-_", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// baselines returns the baselines that the sweeps of the runs name, as AXIS=VALUE. Because facts are large, it reads one run per session,
// of the newest sessions.
func (s *selectedSide) baselines(ctx context.Context) (named []string, err error) {
	firsts := map[string]string{} // by session
	for _, t := range s.strata {
		if id := firsts[t.session]; id == "" || t.firstRun < id {
			firsts[t.session] = t.firstRun
		}
	}
	var ids []schema.ULID
	newest := slices.Sorted(maps.Values(firsts))
	for _, id := range newest[max(len(newest)-maxStrata, 0):] {
		if ids, err = scan.AppendID(ids, id); err != nil {
			return nil, err
		}
	}
	facts, err := query.Facts(ctx, s.Reader, ids)
	for _, run := range facts {
		if text := run["env."+schema.FactBaseline]; text != "" && !slices.Contains(named, text) {
			named = append(named, text)
		}
	}
	slices.Sort(named)
	return named, err
}

// points reads the identity of the points of the side, in the order of their first runs, and the median of the ok runs of each.
func (s *selectedSide) points(ctx context.Context) (points []query.Point, medians []*float64, err error) {
	columns, err := scan.RunColumns(append([]string{"run_id", "point_id", "purpose", "status", "p50", "mean"}, query.IdentityColumns()...))
	if err != nil {
		return nil, nil, err
	}
	text := "SELECT " + query.IdentitySQL() + ", median(coalesce(p50, mean)) FILTER (status = 'ok') FROM " + s.sel.Src.Scan(scan.WithColumns(columns, s.sel.Columns), s.sel.RestrictedTo(s.purpose)) +
		" GROUP BY point_id ORDER BY min(run_id)"
	shared := newInterner()
	err = s.Conn.Query(ctx, duck.Statement{SQL: text, Args: s.sel.Args}, func(row []driver.Value) error {
		var g runGroup
		g.readIdentity(row, shared)
		points, medians = append(points, *g.Point), append(medians, nil)
		if median, ok := row[len(row)-1].(float64); ok {
			medians[len(medians)-1] = &median
		}
		return nil
	})
	return points, medians, err
}

// hasOwnStores reports whether the base has stores of its own.
func (m *comparison) hasOwnStores() bool { return m.base.Reader != m.head.Reader }

// sameMachines narrows a base with several machines to the machines that the head has. A baseline file may have all machines; points of
// other machines must not be reported as missing.
func (m *comparison) sameMachines(ctx context.Context, name string) error {
	shared := slices.DeleteFunc(slices.Clone(m.base.Machines), func(machine string) bool {
		_, there := slices.BinarySearch(m.head.Machines, machine)
		return !there
	})
	if len(shared) == 0 || len(shared) == len(m.base.Machines) {
		return nil
	}
	for i, machine := range shared {
		shared[i] = filter.Quote(machine)
	}
	var err error
	m.base, err = m.side(ctx, m.base.Reader, m.req.BaseFile, name, bothFilters(m.base.Narrowed, "machine="+strings.Join(shared, ",")))
	return err
}

// checkDisjoint rejects runs that are on both sides: a run does not differ from itself.
func (m *comparison) checkDisjoint(ctx context.Context) error {
	if m.hasOwnStores() {
		switch {
		case !m.sameSessions():
			return nil
		case m.req.HeadFile != "" && slices.Equal(m.base.strata, m.head.strata): // ids of imported runs are of their content
			return answer.InputError("compare: %s and %s hold the same results, so nothing differs", m.req.BaseFile, m.req.HeadFile)
		}
		return answer.InputError("compare: BASE and HEAD have runs of the same session: want a HEAD measured after the file BASE was written")
	}
	if !m.sameSessions() && !(m.base.hasSessionless() && m.head.hasSessionless()) {
		return nil
	}
	sel, err := m.head.Selected(ctx, scan.Question{Filter: bothFilters(m.base.Narrowed, "("+orAllRuns(m.head.Narrowed)+")")})
	if err != nil {
		return err
	}
	text := "SELECT count(*) FROM " + sel.Src.Scan(scan.WithColumns([]*schema.Column{schema.RunColumn("purpose")}, sel.Columns), sel.RestrictedTo(m.purpose()))
	row, err := m.head.Conn.One(ctx, duck.Statement{SQL: text, Args: sel.Args})
	if err != nil {
		return err
	}
	switch n, _ := row[0].(int64); n {
	case 0:
		return nil
	case 1:
		return answer.InputError("compare: 1 run matches both BASE and HEAD%s", m.apart())
	default:
		return answer.InputError("compare: %d runs match both BASE and HEAD%s", n, m.apart())
	}
}

// continued matches a filter that is one session, with the runs that it counts of the sessions that it continues.
var continued = regexp.MustCompile(`^` + filter.KeySession + `=[0-9A-Za-z~]+$`)

// apart returns the end of an error about two sessions, one of which counts runs of the other, because it continues it: the command that
// compares what ran in each. It is empty if there is no such command.
func (m *comparison) apart() string {
	base, head := m.base.Sessions, m.head.Sessions
	if !continued.MatchString(m.req.Base) || !continued.MatchString(m.req.Head) {
		return ""
	}
	without := func(of, other []string) []string {
		return slices.DeleteFunc(slices.Clone(of), func(id string) bool { return slices.Contains(other, id) })
	}
	if len(base) < len(head) {
		head = without(head, base)
	} else {
		base = without(base, head)
	}
	if len(base) == 0 || len(head) == 0 {
		return ""
	}
	return ": one session continues the other and counts its runs; neurolens compare session_id=" + strings.Join(base, ",") + " session_id=" + strings.Join(head, ",") + " compares what ran in each"
}

// side selects the runs of a side. file is the name of the file that they come from; empty: they are stored runs.
func (m *comparison) side(ctx context.Context, r *scan.Reader, file, name, filter string) (*selectedSide, error) {
	s, err := selectSide(ctx, r, m.ofPasses(filter), m.purpose())
	if err != nil {
		return nil, err
	}
	if named := slices.ContainsFunc(s.sel.Columns, func(c *schema.Column) bool { return c.Name == "side" }); s.has("base") && s.has("head") && !named {
		// If a session has both sides, and the filter names neither, the newer code (the head) is meant.
		if s, err = selectSide(ctx, r, bothFilters(m.ofPasses(filter), "not side=base"), m.purpose()); err != nil {
			return nil, err
		}
	}
	s.Filter = filter
	if s.Runs == 0 {
		if file == "" && len(r.Src.Live) == 0 && len(r.Src.Read) == 0 {
			return nil, answer.InputError("compare: the store has no runs yet")
		}
		if strings.HasPrefix(name, "side=") {
			return nil, cmp.Or(r.Check(ctx, s.sel.PossibleTypos), errNoSides)
		}
		if profiles, err := r.OnlyProfiles(ctx, s.sel); err != nil || profiles {
			return nil, cmp.Or(err, unmeasured(answer.InputError("compare: %s matches only runs under a profiler, which are not compared: `neurolens ls --like RUN` compares their operators, `neurolens show RUN --ops` lists them", cmp.Or(file, nameOf(name, filter)))))
		}
		why, err := r.EmptyReasons(ctx, s.sel)
		return nil, cmp.Or(err, answer.InputError("compare: %s matches no run (%s)%s", cmp.Or(file, nameOf(name, filter)), sessionsKnown(ctx, r), strings.Join(append([]string{""}, why...), "; ")))
	}
	return s, nil
}

// nameOf returns the name of a selection in an error: the filter that the user typed, if any.
func nameOf(name, filter string) string {
	if strings.TrimSpace(filter) == "" {
		return name
	}
	return filter
}

// sessionsKnown returns a text with the number of sessions of the store.
func sessionsKnown(ctx context.Context, r *scan.Reader) string {
	session := []*schema.Column{schema.RunColumn("session_id")}
	row, err := r.Conn.One(ctx, duck.Statement{SQL: "SELECT count(DISTINCT session_id) FROM " + r.Src.Scan(session, "")})
	if err != nil || len(row) == 0 {
		return "no session is known"
	}
	n, _ := row[0].(int64)
	if n == 1 {
		return "1 session in this store"
	}
	return fmt.Sprintf("%d sessions in this store", n)
}

// checkBaseFile returns the error for a base file without the only metric that was asked for: each point would count as added.
func (m *comparison) checkBaseFile(ctx context.Context, metric string) error {
	if metric == "" || m.req.BaseFile == "" || len(m.req.Metrics) != 1 {
		return nil
	}
	names, err := m.base.Metrics(ctx)
	if err != nil || slices.Contains(names, metric) {
		return err
	}
	return answer.InputError("compare: %s has no metric %s, but %s: neurolens bless --metric %s --to FILE makes a baseline file that has it",
		m.req.BaseFile, metric, strings.Join(names[:min(len(names), fileMetrics)], ", "), metric)
}

// fileMetrics is how many metrics of a file an error names.
const fileMetrics = 5

// selectedSide is a side: its description, its strata, and how to read its runs.
type selectedSide struct {
	Side
	*scan.Reader // of the stores of the side
	sel          scan.Selection
	purpose      string // the SQL condition of the runs that are compared
	strata       []stratum
	kinds        []metricKind // the different kinds of the ok runs
}

// hasSessionless reports whether some run has no session.
func (s *selectedSide) hasSessionless() bool {
	return slices.ContainsFunc(s.strata, func(t stratum) bool { return t.session == "" })
}

// onlyMachine returns the machine of all runs, if there is only one.
func (s *selectedSide) onlyMachine() (machine string, ok bool) {
	other := func(t stratum) bool { return t.machine != s.strata[0].machine }
	return s.strata[0].machine, !slices.ContainsFunc(s.strata, other)
}

// metrics returns the names of the metrics in the files of the side's runs, ascending.
func (s *selectedSide) metrics(ctx context.Context) ([]string, error) {
	return (&scan.Reader{Conn: s.Conn, Src: s.sel.Src}).Metrics(ctx)
}

// has reports whether some run is on the named side (base or head) of its session.
func (s *selectedSide) has(name string) bool {
	return slices.ContainsFunc(s.strata, func(t stratum) bool { return t.side == name })
}

// Side describes a side.
type Side struct {
	Filter            string
	Runs              int
	Sessions          []string // ids, oldest first
	Machines, Commits []string // ascending
	NoSession         int      // number of runs without a session
	NoMachine         int      // number of runs without a machine
	NoCommit          int      // number of runs without a commit
	Dirty             int      // number of runs with uncommitted changes
	Imported          int      // number of runs that were imported from files of other tools
	FactRuns          int      // number of runs whose facts were read
	Since, Until      int64    // starts of the first and the last run in Unix microseconds; 0: unknown

	Narrowed string // Filter, narrowed to the runs that are compared
}

// selectSide compiles the filter of a side and reads its strata. purpose is the SQL condition of the runs that are compared.
func selectSide(ctx context.Context, r *scan.Reader, filter, purpose string) (*selectedSide, error) {
	sel, err := r.Selected(ctx, scan.Question{Filter: filter})
	if err != nil {
		return nil, err
	}
	s := &selectedSide{Side: Side{Narrowed: filter}, Reader: r, sel: sel, purpose: purpose}
	return s, s.stratify(ctx)
}

// bothFilters returns the filter of the runs that match two filters.
func bothFilters(a, b string) string {
	a = strings.TrimSpace(a)
	switch {
	case a == "":
		return b
	case strings.ContainsAny(a, " \t\n"):
		return "(" + a + ") " + b
	}
	return a + " " + b
}

// orAllRuns returns the filter or, if it is empty, one that matches all runs.
func orAllRuns(filter string) string {
	if strings.TrimSpace(filter) == "" {
		return "not run_id=null"
	}
	return filter
}

// stratum describes the runs with the same session, machine, commit, benchmark, backend, side, status and kind of metric.
type stratum struct {
	session, machine, commit string
	benchmark, backend, side string
	status                   string
	metric                   metricKind
	runs, dirty, imported    int
	firstRun, lastRun        string
	since, until             int64 // Unix microseconds; 0: unknown
	warned                   bool  // some run has a warning
	noLog                    bool  // some run has no log_median
}

// strataColumns are the columns by which stratify groups. Metrics other than the primary one are read later.
var strataColumns = []string{"session_id", "machine", "git_commit", "benchmark", "backend", "side", "status", "metric", "unit", "better", "clock", "level"}

// stratify reads the strata of a side, and leaves out files without runs of it.
func (s *selectedSide) stratify(ctx context.Context) error {
	columns, err := scan.RunColumns(append([]string{"run_id", "started_at", "warnings", "purpose", "log_median", "git_dirty", "source"}, strataColumns...))
	if err != nil {
		return err
	}
	text := "SELECT " + scan.ColumnNamesOf("r", strataColumns) + `, count(*), min(run_id) AS first_run, max(run_id), epoch_us(min(started_at)), epoch_us(max(started_at)),
	coalesce(bool_or(len(warnings) > 0), false), bool_or(log_median IS NULL), count(*) FILTER (git_dirty), count(*) FILTER (source <> ` + duck.Literal(schema.SourceNeuroLens) + `)
FROM ` + s.sel.Src.Scan(scan.WithColumns(columns, s.sel.Columns), s.sel.RestrictedTo(s.purpose)) + " AS r GROUP BY ALL ORDER BY first_run"
	err = s.Conn.Query(ctx, duck.Statement{SQL: text, Args: s.sel.Args}, func(row []driver.Value) error {
		var t stratum
		for i, field := range []*string{
			&t.session, &t.machine, &t.commit, &t.benchmark, &t.backend, &t.side, &t.status, &t.metric.Name, &t.metric.Unit, &t.metric.Better, &t.metric.Clock, &t.metric.Level,
		} {
			*field = duck.Text(row[i])
		}
		row = row[len(strataColumns):]
		t.runs, t.firstRun, t.lastRun, t.since, t.until = int(duck.Integer(row[0])), duck.Text(row[1]), duck.Text(row[2]), duck.Integer(row[3]), duck.Integer(row[4])
		t.warned, t.noLog, t.dirty, t.imported = row[5] == true, row[6] == true, int(duck.Integer(row[7])), int(duck.Integer(row[8]))
		s.add(t)
		return nil
	})
	if err == nil {
		err = s.narrow()
	}
	for _, list := range []*[]string{&s.Sessions, &s.Machines, &s.Commits} {
		slices.Sort(*list)
		*list = slices.DeleteFunc(slices.Compact(*list), func(text string) bool { return text == "" })
	}
	return err
}

// narrow makes Sel read only the files of the time of the side's runs. If values that are not numbers have to be counted, also those of
// runs that do not match, all files stay.
func (s *selectedSide) narrow() error {
	if len(s.strata) == 0 || len(s.sel.NotNumbers) > 0 {
		return nil
	}
	last := slices.MaxFunc(s.strata, func(a, b stratum) int { return cmp.Compare(a.lastRun, b.lastRun) })
	ids, err := scan.AppendID(nil, s.strata[0].firstRun)
	if err == nil {
		ids, err = scan.AppendID(ids, last.lastRun)
	}
	if err == nil {
		s.sel.Src = s.sel.Src.Within(scan.Period{Since: ids[0].Time().UnixMilli(), Until: ids[1].Time().UnixMilli() + 1})
	}
	return err
}

// add adds a stratum.
func (s *selectedSide) add(t stratum) {
	s.strata = append(s.strata, t)
	s.Runs, s.Dirty, s.Imported = s.Runs+t.runs, s.Dirty+t.dirty, s.Imported+t.imported
	s.Sessions, s.Machines, s.Commits = append(s.Sessions, t.session), append(s.Machines, t.machine), append(s.Commits, t.commit)
	if t.session == "" {
		s.NoSession += t.runs
	}
	if t.machine == "" {
		s.NoMachine += t.runs
	}
	if t.commit == "" {
		s.NoCommit += t.runs
	}
	if t.since > 0 && (s.Since == 0 || t.since < s.Since) {
		s.Since = t.since
	}
	s.Until = max(s.Until, t.until)
	if t.status == string(schema.StatusOK) && !slices.Contains(s.kinds, t.metric) {
		s.kinds = append(s.kinds, t.metric)
	}
}

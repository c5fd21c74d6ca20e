package summary

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// Request selects the runs and the comparison of a report.
type Request struct {
	Filter  string   // selects the runs; empty: all runs
	Base    string   // filter of a base that the runs of Filter, the head, are compared with; empty: there is one selection
	By      []string // keys of the groups, as in a filter; empty: the suite
	Metrics []string // metrics to show; empty: all
	// Axis and Reference are the baseline: an axis, and its value in the form of a filter. Empty: the baselines that the sweeps of
	// the runs name, otherwise variant=baseline.
	Axis, Reference string
}

// groupMemory is the number of bytes that DuckDB may use to group the runs.
const groupMemory = 256 << 20

// Read makes a report. It also returns, per key of the filter, the number of values that < or > could not compare. It is an ErrInput if
// no run matches, if no run has a key, if no point has the requested baseline, and if two selections cannot be compared.
func Read(ctx context.Context, db *query.DB, req Request) (*Report, map[string]int, error) {
	r := &reading{req: req}
	if len(req.By) == 0 {
		r.req.By = []string{suite}
	}
	if err := query.CheckKeys(r.req.By); err != nil {
		return nil, nil, err
	}
	err := db.Stores().Query(ctx, func(s *scan.Reader) error {
		if err := s.LoadLive(ctx); err != nil {
			return err
		}
		err := r.read(ctx, s)
		r.report.stored = s.Src.RunsByName
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	r.knowMetrics()
	compared := r.chosen()
	if len(compared) == 0 {
		compared = r.guessed()
	}
	r.report.Points = sortPoints(r.report.Points, req.Metrics, compared)
	r.count()
	r.report.Groups = groupsOf(r.report.Points)
	r.report.Failures = failuresOf(r.report.Points)
	r.report.Leaders = leadersOf(r.report.Points)
	r.report.Resources = resourcesOf(r.report.Points)
	if err := r.compare(ctx, db, compared); err != nil {
		return nil, nil, err
	}
	if err := r.trends(ctx, db); err != nil {
		return nil, nil, err
	}
	r.report.Findings = r.findings()
	return &r.report, r.notNumbers, nil
}

// Points returns the points of a selection, per machine and side, with all of their metrics, as in Read but without groups and
// comparisons. A selection without runs is an ErrInput that begins with asker, the name of the command.
func Points(ctx context.Context, db *query.DB, asker, selection string) (points []Point, notNumbers map[string]int, err error) {
	r := &reading{req: Request{Filter: selection}, asker: asker}
	err = db.Stores().Query(ctx, func(s *scan.Reader) error {
		if err := r.gather(ctx, s); err != nil {
			return err
		}
		var err error
		r.notNumbers, err = s.CountNotNumbers(ctx, r.sel)
		return err
	})
	return r.report.Points, r.notNumbers, err
}

// Contest compares the values of an axis in a selection with one of them. Of the report only the points, the comparison and its pairs are
// read; there is no comparison if no points can be paired.
func Contest(ctx context.Context, db *query.DB, selection string, c query.Contrast) (*Report, error) {
	r := &reading{req: Request{Filter: selection}}
	if err := db.Stores().Query(ctx, func(s *scan.Reader) error { return r.gather(ctx, s) }); err != nil {
		return nil, err
	}
	r.report.Selection.Filter = selection
	compared := []baseline{{c.Axis, c.Value, filter.QuoteFor(c.Axis, c.Value), FromGuess}}
	r.report.Points = sortPoints(r.report.Points, nil, compared)
	return &r.report, r.compare(ctx, db, compared)
}

// part is a part of the selection with the same values of the keys: usually a group.
type part struct {
	values []string      // of the keys; "" stands for NULL
	groups map[Text]Text // group of each point, by id
}

// suite is the key by which runs are grouped by default.
const suite = "suite"

// reading is a report that is being made.
type reading struct {
	req        Request
	asker      string // prefix of errors; empty: report
	bounds     scan.Period
	report     Report
	sel        scan.Selection
	notNumbers map[string]int
	baselines  []baseline // baselines that sweeps name
	parts      []part     // parts of the selection, by the values of the keys
	overlap    bool       // some point is in several parts
	periods    []Period   // of the sides, if two are compared
	sessions   int        // number of sessions; those that continue one another count each
	shared     *shared
}

// gather reads the points of the selection, or of the base and then of the head, with all of their metrics. Afterwards the runs of both
// are selected.
func (r *reading) gather(ctx context.Context, s *scan.Reader) error {
	if err := s.Conn.Raise(ctx, groupMemory); err != nil {
		return err
	}
	r.report, r.shared, r.parts, r.overlap, r.periods = Report{}, newShared(), nil, false, nil
	for _, of := range r.sides() {
		if err := r.gatherSide(ctx, s, of); err != nil {
			return err
		}
	}
	if err := r.nameRates(ctx, s); err != nil {
		return err
	}
	if r.req.Base != "" {
		return r.selects(ctx, s, r.whole())
	}
	if !onSide(r.report.Points, baseSide) || !onSide(r.report.Points, headSide) {
		return nil
	}
	if err := r.period(ctx, s, baseSide, baseSide); err != nil {
		return err
	}
	return r.period(ctx, s, headSide, headSide)
}

// selects selects the runs of a filter.
func (r *reading) selects(ctx context.Context, s *scan.Reader, filter string) (err error) {
	r.sel, err = s.Selected(ctx, scan.Question{Filter: filter, Bounds: r.bounds, Sort: r.req.By})
	return err
}

// read reads everything from the stores except comparisons.
func (r *reading) read(ctx context.Context, s *scan.Reader) error {
	if err := r.gather(ctx, s); err != nil {
		return err
	}
	if err := r.checkKeys(ctx, s); err != nil {
		return err
	}
	if err := r.environment(ctx, s); err != nil {
		return err
	}
	if err := r.sweeps(ctx, s); err != nil {
		return err
	}
	var err error
	r.notNumbers, err = s.CountNotNumbers(ctx, r.sel)
	return err
}

// knowMetrics sets the known metrics, and the requested ones that no run has.
func (r *reading) knowMetrics() {
	s := &r.report.Selection
	s.Known, s.Absent = metricsOf(r.report.Points), []string{}
	for _, metric := range s.Metrics {
		if !slices.Contains(s.Known, metric) {
			s.Absent = append(s.Absent, metric)
		}
	}
}

// nothing returns the error for a filter that no run matches.
func (r *reading) nothing(ctx context.Context, s *scan.Reader, selection string) error {
	words := r.sel
	words.PossibleTypos = slices.DeleteFunc(slices.Clone(words.PossibleTypos), func(u filter.PossibleTypo) bool { return u.Word.Op == "" }) // keys are not part of the filter
	if err := s.ExplainEmpty(ctx, words); err != nil {
		return err
	}
	if strings.TrimSpace(selection) == "" {
		return answer.InputError("%s: there are no runs", cmp.Or(r.asker, "report"))
	}
	return answer.InputError("%s: %s matches no run", cmp.Or(r.asker, "report"), answer.Brief(selection))
}

// checkKeys rejects a key of groups that no run has, because it is probably a typo.
func (r *reading) checkKeys(ctx context.Context, s *scan.Reader) error {
	for _, key := range r.sel.PossibleTypos {
		if key.Word.Op != "" { // a word of the filter
			continue
		}
		names, err := s.Texts(ctx, "unnest(map_keys(params))", "params")
		if err != nil {
			return err
		}
		if name := key.Field.Entry; key.Unit == "" && !slices.Contains(names, name) {
			return answer.InputError("report: by: no column or parameter is called %q%s", answer.Brief(name), scan.SuggestKey(name, names))
		}
	}
	return nil
}

// runsSQL returns a subquery of the runs of the selection, with columns of runs and one column per key.
func (r *reading) runsSQL(columns ...string) (string, error) {
	found, err := scan.RunColumns(columns)
	if err != nil {
		return "", err
	}
	keys := ""
	for i, k := range r.sel.Order {
		keys += fmt.Sprintf(", CAST(%s AS VARCHAR) AS %s", k.Value, keyColumn(i))
	}
	return "(SELECT *" + keys + " FROM " + r.sel.Src.Scan(scan.WithColumns(found, r.sel.Columns), r.sel.Matches()) + ")", nil
}

// keyColumn returns the column of a key in runsSQL.
func keyColumn(i int) string { return fmt.Sprintf("group_key_%d", i) }

// keyColumns returns the columns of all keys, each followed by a comma.
func (r *reading) keyColumns() string {
	text := ""
	for i := range r.req.By {
		text += keyColumn(i) + ", "
	}
	return text
}

// filterOf returns a filter narrowed to a part of the selection.
func (r *reading) filterOf(selection string, p *part) string {
	var words []string
	if selection != "" {
		words = append(words, "("+selection+")")
	}
	for i, value := range p.values {
		if value == "" {
			words = append(words, r.req.By[i]+"=null")
		} else {
			words = append(words, r.req.By[i]+"="+filter.QuoteFor(r.req.By[i], value))
		}
	}
	return strings.Join(words, " ")
}

// groupName names the group of runs with these values of the keys; "" stands for NULL.
func (r *reading) groupName(values []string, benchmark string) string {
	if slices.Equal(r.req.By, []string{suite}) {
		family, _, found := strings.Cut(benchmark, "/")
		if !found {
			family = ""
		}
		return cmp.Or(values[0], family)
	}
	words := make([]string, len(values))
	for i, value := range values {
		words[i] = r.req.By[i] + "=" + cmp.Or(value, "null")
	}
	return strings.Join(words, " ")
}

// shared stores equal texts, parameters and counts once, because there may be very many points. They must not be changed.
type shared struct {
	texts  map[string]string
	params map[string]map[string]string
	counts map[string]map[string]int
}

func newShared() *shared {
	return &shared{map[string]string{}, map[string]map[string]string{}, map[string]map[string]int{}}
}

// countsOf returns the same map for equal counts.
func (s *shared) countsOf(v any) map[string]int {
	values, _ := duck.Plain(v).(map[string]any)
	key := fmt.Sprint(values) // of a map the keys are in order
	if known, ok := s.counts[key]; ok {
		return known
	}
	counts := make(map[string]int, len(values))
	for name, n := range values {
		counts[s.text(name)] = int(duck.Integer(n))
	}
	s.counts[key] = counts
	return counts
}

// text returns the same string for equal texts.
func (s *shared) text(v any) string {
	text := duck.Text(v)
	if known, ok := s.texts[text]; ok {
		return known
	}
	s.texts[text] = text
	return text
}

// parameters returns the same map for equal parameters; nil for NULL.
func (s *shared) parameters(v any) map[string]string {
	values, _ := duck.Plain(v).(map[string]any)
	if values == nil {
		return nil
	}
	key := fmt.Sprint(values) // of a map the keys are in order
	if known, ok := s.params[key]; ok {
		return known
	}
	params := make(map[string]string, len(values))
	for name, value := range values {
		if text, ok := value.(string); ok { // without a value it is no parameter
			params[s.text(name)] = s.text(text)
		}
	}
	s.params[key] = params
	return params
}

// pointColumns are the columns of runs that points are made from.
var pointColumns = []string{
	"run_id", "session_id", "point_id", "side", "purpose", "source", "benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len", "params",
	"machine", "gpu_name", "cpu_model", "status", "stage", "error_kind", "error", "warnings", "n_samples", "metric", "unit", "better", "p50", "p99", "mean", "mad",
}

// native is the SQL of a source that is this program.
var native = duck.Literal(schema.SourceNeuroLens)

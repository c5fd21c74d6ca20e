package report

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/summary"
)

// Format and version of the JSON document. Members are only ever added within a version.
const (
	documentFormat  = "neurolens-report"
	documentVersion = 1
)

// Document is a report with its words, as JSON has it.
type Document struct {
	Format  string    `json:"format" doc:"neurolens-report"`
	Version int       `json:"version" doc:"version of this format: 1. Members are only ever added to it"`
	MadeAt  time.Time `json:"made_at" doc:"when the report was made, RFC 3339 in UTC"`
	MadeBy  string    `json:"made_by" doc:"the program and its version"`

	Answer          []Answer              `json:"answer" doc:"what changed, by how much, since when and how sure, or which setting is best: the first paragraph of the report"`
	Selection       summary.Selection     `json:"selection" doc:"which runs the report is about"`
	Counts          summary.Counts        `json:"counts" doc:"how many runs and points there are"`
	Environment     []summary.Fact        `json:"environment" doc:"where the runs were measured, with the number of runs for each value"`
	Groups          []summary.Group       `json:"groups" doc:"parts of the report: the suites, or the groups of --by"`
	Trends          []summary.Trend       `json:"trends" doc:"each point over sessions, what got worse first. Of a report of one session: over all sessions with its points, unless there are more than 50 points, or more than 20,000 runs in the store. Empty for fewer than 8 sessions, for two selections or sides, and if a baseline was requested for one session"`
	OtherTrends     []summary.Trend       `json:"other_trends" doc:"if the filter is one session: series of other points or machines that regressed, fail or are far off their level, the worst first, with the limits of trends"`
	Comparisons     []summary.Comparison  `json:"comparisons" doc:"each value of an axis against its baseline"`
	Leaderboards    []summary.Leaderboard `json:"leaderboards" doc:"the best points, machine by machine and metric by metric"`
	Resources       []summary.Resource    `json:"resources" doc:"memory, energy and power"`
	Failures        []Failure             `json:"failures" doc:"how the runs that are not ok ended"`
	Findings        []Finding             `json:"findings" doc:"findings of rules in the numbers above, most serious first"`
	Recommendations []Recommendation      `json:"recommendations" doc:"what to do next"`
	Pairs           []summary.Pair        `json:"pairs" doc:"each point with a baseline, comparison by comparison"`
	Points          []summary.Point       `json:"points" doc:"every point, group by group; points that differ only in their variant are neighbours"`
}

// Failure is how some runs ended, with what to do.
type Failure struct {
	summary.Failure
	Hint string `json:"hint" doc:"what to do about it"`
}

// Finding is what a rule found, in words.
type Finding struct {
	summary.Finding
	Text string `json:"text" doc:"the finding as a sentence"`
}

// Recommendation is something to do next.
type Recommendation struct {
	Rule    string `json:"rule" doc:"the rule of the finding that led to it"`
	Command string `json:"command" doc:"a command to type"`
	Why     string `json:"why" doc:"what the command is for"`
}

// Maker is what makes documents: who reads them, and which program made them.
type Maker struct {
	Reader views.Display
	By     string // the program and its version

	Others bool           // the stores have other runs
	Again  []string       // commands that measure failed points again
	Enough string         // the command that measures all points often enough; empty: none
	Past   int            // sessions of the store with points of the report, as summary.Report.PastSessions
	Other  string         // as summary.Report.OtherSession
	Later  bool           // it is later
	Amount query.Contrast // as summary.Report.Amount

	Series []history.SeriesPoint // as summary.Report.Series
}

// Document adds the words to a report.
func (m Maker) Document(r *summary.Report) *Document {
	d := &Document{
		Format: documentFormat, Version: documentVersion, MadeAt: m.Reader.Now.UTC().Truncate(time.Second), MadeBy: m.By,
		Selection: r.Selection, Counts: r.Counts, Environment: r.Environment, Groups: r.Groups, Trends: r.Trends, OtherTrends: r.OtherTrends, Comparisons: r.Comparisons, Leaderboards: r.Leaders,
		Resources: r.Resources, Pairs: r.Pairs, Points: r.Points,
	}
	for _, f := range r.Failures {
		d.Failures = append(d.Failures, Failure{f, hint(&f, r.Counts.Imported == r.Counts.Runs)})
	}
	for _, f := range r.Findings {
		d.Findings = append(d.Findings, Finding{f, sentence(&f)})
	}
	d.Recommendations = m.recommendations(d)
	d.Answer = m.answers(d)
	return d
}

// WriteForm writes a form of a report to a file, which is replaced as a whole, or to standard output where the path is -. Without a path
// nobody asks for it.
func WriteForm(path string, stdout io.Writer, form func(w io.Writer) error) error {
	switch path {
	case "":
		return nil
	case "-":
		if err := form(stdout); err != nil {
			return fmt.Errorf("writing to standard output: %w", err)
		}
		return nil
	}
	return files.OfPlace(files.Write(path, form))
}

// json writes the document: a member a line, and of lists an entry a line, so that it can be compared line by line and need not be in
// memory as a whole. Nothing in it steers a terminal.
func (d *Document) json(to io.Writer) error {
	w := bufio.NewWriterSize(&term.Escaper{To: to}, 1<<16)
	v := reflect.ValueOf(d).Elem()
	for i := range v.NumField() {
		before := ",\n"
		if i == 0 {
			before = "{\n"
		}
		name := strings.Split(v.Type().Field(i).Tag.Get("json"), ",")[0]
		fmt.Fprintf(w, "%s  %q: ", before, name)
		if err := writeMember(w, v.Field(i)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	fmt.Fprint(w, "\n}\n")
	return w.Flush()
}

// writeMember writes a value, of a list an entry a line.
func writeMember(w *bufio.Writer, v reflect.Value) error {
	if v.Kind() != reflect.Slice {
		filled(v)
		return writeValue(w, v.Interface())
	}
	for i := range v.Len() {
		before := ",\n    "
		if i == 0 {
			before = "[\n    "
		}
		fmt.Fprint(w, before)
		filled(v.Index(i))
		if err := writeValue(w, v.Index(i).Addr().Interface()); err != nil {
			return err
		}
	}
	if v.Len() == 0 {
		fmt.Fprint(w, "[]")
		return nil
	}
	_, err := fmt.Fprint(w, "\n  ]")
	return err
}

func writeValue(w *bufio.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	return err
}

// Options is what the command line says of a report.
type Options struct {
	MD, JSON string   // files, or - for standard output
	HTML     string   // likewise
	Format   string   // --format; empty: not given
	Baseline string   // AXIS=VALUE
	Against  string   // the filter of the base; empty: not given
	By       []string // keys of groups
	Metrics  []string // each once
	All      bool     // all runs, not those of the last session
}

// Request makes a request of it and of the words of a filter, and settles where the forms go. Its errors are the asker's to mend.
func (a *Options) Request(words []string) (summary.Request, error) {
	base, head, err := a.sides(words)
	req := summary.Request{Base: base, Filter: head, By: a.By, Metrics: a.Metrics}
	switch {
	case err != nil:
		return req, err
	case a.All && len(words) > 0:
		return req, fmt.Errorf("report: --all takes no filter, got %q", req.Filter)
	case a.MD == "-" && a.JSON == "-" || a.HTML == "-" && (a.MD == "-" || a.JSON == "-"):
		return req, errors.New("report: only one of --md -, --json - and --html - can be standard output")
	case a.Format != "" && a.Format != term.FormatMD && a.Format != term.FormatJSON:
		return req, fmt.Errorf("report: --format %s: want md or json", a.Format)
	}
	if a.Baseline != "" {
		axis, value, found := strings.Cut(a.Baseline, "=")
		if !found || axis == "" || value == "" {
			return req, fmt.Errorf("--baseline %q: want AXIS=VALUE", a.Baseline)
		}
		req.Axis, req.Reference = axis, filter.QuoteWord(value)
	}
	switch {
	case a.MD != "" || a.JSON != "" || a.HTML != "":
	case a.Format == term.FormatJSON:
		a.JSON = "-"
	default:
		a.MD = "-"
	}
	return req, nil
}

// Settle completes the filters of a request: where the words name no runs and All is not set, they are those of the newest session that no
// bisect measured, and session=last becomes the id of a session.
func (a *Options) Settle(ctx context.Context, db *query.DB, req *summary.Request) (err error) {
	if !a.All && strings.TrimSpace(req.Filter) == "" {
		if req.Filter, err = db.NewestSession(ctx); err != nil {
			return err
		}
	}
	for _, f := range []*string{&req.Base, &req.Filter} {
		if *f, err = db.Lasting(ctx, *f); err != nil {
			return err
		}
	}
	return nil
}

// Write writes the forms of a document that are texts, where they were asked for. It says on stderr which files there are now, that of the
// page too.
func (a *Options) Write(d *Document, stdout, stderr io.Writer) error {
	if err := WriteForm(a.JSON, stdout, d.json); err != nil {
		return err
	}
	if err := WriteForm(a.MD, stdout, d.markdown); err != nil {
		return err
	}
	for _, path := range []string{a.HTML, a.JSON, a.MD} {
		if path != "" && path != "-" {
			fmt.Fprintln(stderr, term.OneLine(path+": report of "+term.Count(d.Counts.Runs, "run")))
		}
	}
	return nil
}

// sides returns the filters of the base, if there is one, and of the runs that are reported: --against names the base, and so do two
// arguments as compare takes them, which no run can match both.
func (a *Options) sides(words []string) (base, head string, err error) {
	switch base, head, err = filter.TwoSides(a.Against, words); {
	case err != nil:
		return "", "", fmt.Errorf("report: %w", err)
	case base == "":
	case a.All:
		return "", "", errors.New("report: --all is one selection: want a filter for each side")
	case a.Baseline != "":
		return "", "", fmt.Errorf("report: --baseline %s and two selections: want one of them", term.OneLine(a.Baseline))
	}
	return base, head, nil
}

// JSONSchema returns a JSON Schema (2020-12) of documents, made of their types and of what these say of each member.
func JSONSchema() ([]byte, error) {
	document := schemaOf(reflect.TypeFor[Document]())
	document["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	document["title"] = "NeuroLens report"
	document["description"] = "A report by neurolens report --json. Unknown values are null; every member is present."
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the JSON Schema of reports: %w", err)
	}
	return append(text, '\n'), nil
}

// plainTypes are the schemas of types that are no objects and no lists.
var plainTypes = map[reflect.Type]map[string]any{
	reflect.TypeFor[summary.Text]():       {"type": []string{"string", "null"}},
	reflect.TypeFor[*float64]():           {"type": []string{"number", "null"}},
	reflect.TypeFor[*int64]():             {"type": []string{"integer", "null"}},
	reflect.TypeFor[*int]():               {"type": []string{"integer", "null"}},
	reflect.TypeFor[*summary.Time]():      {"type": []string{"string", "null"}, "format": "date-time"},
	reflect.TypeFor[time.Time]():          {"type": "string", "format": "date-time"},
	reflect.TypeFor[map[string]int]():     {"type": "object", "additionalProperties": map[string]any{"type": "integer", "minimum": 0}},
	reflect.TypeFor[map[string]float64](): {"type": "object", "additionalProperties": map[string]any{"type": "number"}},
	reflect.TypeFor[map[string]string]():  {"type": []string{"object", "null"}, "additionalProperties": map[string]any{"type": "string"}},
}

// schemaOf returns the schema of values of a type.
func schemaOf(t reflect.Type) map[string]any {
	if plain, ok := plainTypes[t]; ok {
		return maps.Clone(plain) // the description of a member is added to it
	}
	switch t.Kind() {
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Struct:
		properties, required := map[string]any{}, []string{}
		for _, m := range membersOf(t) {
			property := schemaOf(m.of)
			property["description"] = m.doc
			properties[m.name], required = property, append(required, m.name)
		}
		return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	case reflect.Int:
		return map[string]any{"type": "integer", "minimum": 0}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	}
	return map[string]any{"type": "string"}
}

// member is a member of an object.
type member struct {
	name, doc string
	of        reflect.Type
}

// membersOf returns the members of an object in their order, those of embedded structs in place.
func membersOf(t reflect.Type) (all []member) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			all = append(all, membersOf(f.Type)...)
		} else if f.IsExported() {
			all = append(all, member{strings.Split(f.Tag.Get("json"), ",")[0], f.Tag.Get("doc"), f.Type})
		}
	}
	return all
}

// filled puts empty lists in place of those that are nil, within a value too: a list is never null.
func filled(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			filled(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				filled(f)
			}
		}
	}
}

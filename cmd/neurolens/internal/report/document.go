package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/files"
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

	Selection       summary.Selection     `json:"selection" doc:"which runs the report is about"`
	Counts          summary.Counts        `json:"counts" doc:"how many runs and points there are"`
	Environment     []summary.Fact        `json:"environment" doc:"where the runs were measured, with the number of runs for each value"`
	Groups          []summary.Group       `json:"groups" doc:"parts of the report: the suites, or the groups of --by"`
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
	Reader views.Reader
	By     string // the program and its version
}

// Document adds the words to a report.
func (m Maker) Document(r *summary.Report) *Document {
	d := &Document{
		Format: documentFormat, Version: documentVersion, MadeAt: m.Reader.Now.UTC().Truncate(time.Second), MadeBy: m.By,
		Selection: r.Selection, Counts: r.Counts, Environment: r.Environment, Groups: r.Groups, Comparisons: r.Comparisons, Leaderboards: r.Leaders,
		Resources: r.Resources, Pairs: r.Pairs, Points: r.Points,
	}
	for _, f := range r.Failures {
		d.Failures = append(d.Failures, Failure{f, hint(&f, r.Counts.Imported == r.Counts.Runs)})
	}
	for _, f := range r.Findings {
		d.Findings = append(d.Findings, Finding{f, sentence(&f)})
	}
	d.Recommendations = m.recommendations(d)
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

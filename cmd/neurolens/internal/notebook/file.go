package notebook

import (
	"bytes"
	_ "embed" // the template
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

// The cells stand in the template one after the other, each after a line that says what it is.
const cellMark = "%% "

//go:embed notebook.tmpl
var cellsText string

// file is a notebook as nbformat has it. Members are in the order of their names, in which Jupyter writes them: a notebook that is
// saved without a change stays the same, to the byte.
type file struct {
	Cells    []any `json:"cells"`
	Metadata struct {
		Kernel struct {
			DisplayName string `json:"display_name"`
			Language    string `json:"language"`
			Name        string `json:"name"`
		} `json:"kernelspec"`
		Language struct {
			Name string `json:"name"`
		} `json:"language_info"`
	} `json:"metadata"`
	Format int `json:"nbformat"`
	Minor  int `json:"nbformat_minor"`
}

// code is a cell that is executed.
type code struct {
	Type     string   `json:"cell_type"`
	Count    *int     `json:"execution_count"`
	ID       string   `json:"id"`
	Metadata struct{} `json:"metadata"`
	Outputs  []any    `json:"outputs"`
	Source   []string `json:"source"`
}

// prose is a cell that is read.
type prose struct {
	Type     string   `json:"cell_type"`
	ID       string   `json:"id"`
	Metadata struct{} `json:"metadata"`
	Source   []string `json:"source"`
}

// notebook is the file about a subject.
func (s *subject) notebook() ([]byte, error) {
	cells, err := template.New("notebook").Parse(cellsText)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := cells.Execute(&text, s.view()); err != nil {
		return nil, err
	}
	var f file
	f.Metadata.Kernel.DisplayName, f.Metadata.Kernel.Language, f.Metadata.Kernel.Name = "Python 3", "python", "python3"
	f.Metadata.Language.Name, f.Format, f.Minor = "python", 4, 5
	for i, cell := range strings.Split("\n"+text.String(), "\n"+cellMark)[1:] {
		kind, body, _ := strings.Cut(cell, "\n")
		source, id := slices.Collect(strings.Lines(strings.Trim(body, "\n"))), "cell-"+strconv.Itoa(i)
		switch kind {
		case "code":
			f.Cells = append(f.Cells, code{Type: kind, ID: id, Outputs: []any{}, Source: source})
		case "markdown":
			f.Cells = append(f.Cells, prose{Type: kind, ID: id, Source: source})
		default:
			return nil, fmt.Errorf("a cell of kind %q", kind)
		}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err = e.Encode(f)
	return out.Bytes(), err
}

// view is a subject as the template has it: every text is a literal of Python.
type view struct {
	Program, Stores, Filter string
	Metric, Unit            string
	Axes, X, Lines          string
	HasMetric, HasAxis      bool
	HasLines, Sampled       bool
	Numbers, Doubles        bool // values of X
	HasHistory              bool
}

func (s *subject) view() view {
	p := &s.plan
	v := view{
		Program: literal(s.program), Stores: literals(s.stores), Filter: literals(s.filter),
		Metric: literal(p.Metric), Unit: "None", Axes: literals(p.Axes), X: literal(p.X), Lines: literal(p.By),
		HasMetric: p.Metric != "", HasAxis: p.X != "", HasLines: p.By != "", Sampled: s.sampled, Numbers: p.Numbers, Doubles: p.Doubles,
		HasHistory: s.sessions > 1,
	}
	if p.Unit != "" {
		v.Unit = literal(p.Unit)
	}
	return v
}

// literal is a text as Python writes it, in one line and without characters that are not seen: the escapes of Go are among those of
// Python.
func literal(text string) string { return strconv.Quote(text) }

// literals are a list of texts.
func literals(texts []string) string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = literal(text)
	}
	return "[" + strings.Join(all, ", ") + "]"
}

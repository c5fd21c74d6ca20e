package main

import (
	"bytes"
	"context"
	_ "embed" // the template
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chartdata"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/summary"
)

// notebookOptions are the flags.
type notebookOptions struct {
	out, metric string
	force       bool
}

// newNotebookCommand is notebook.
func newNotebookCommand(a *app) *cobra.Command {
	var o notebookOptions
	cmd := &cobra.Command{
		Use:   "notebook [FILTER...]",
		Short: "Write a Jupyter notebook about runs",
		Long: `Write a Jupyter notebook about the matching runs, as a start for your own
analysis: runs and points, a metric over an axis of the sweep, the distribution
of samples, the history over sessions, and the environment. It runs as it is
with DuckDB, pandas and matplotlib, and needs no network.

Whenever you run the notebook, it calls neurolens export with the same filter,
so it always shows what neurolens ls lists. The first cell holds the stores, the
filter and the metric; edit them there. An existing file is replaced only with
--force. docs/notebooks.md says more.`,
		Example: `  neurolens notebook session=last
  neurolens notebook benchmark=matmul 'batch_size>=8' -o matmul.ipynb
  neurolens notebook --metric peak_memory -o - > memory.ipynb`,
		RunE: a.printing(func(cmd *cobra.Command, args []string, format string) error {
			if o.out != stdoutFile && !strings.EqualFold(filepath.Ext(o.out), ".ipynb") {
				return usageError{fmt.Errorf("notebook: -o %s: want a name that ends with .ipynb, or - for standard output", term.OneLine(o.out))}
			}
			var s *subject
			err := a.queryCharts(cmd, func(db *query.DB) (err error) {
				if err = a.checkNotebookFile(db, o.out); err != nil {
					return err
				}
				s, err = a.readNotebook(cmd.Context(), db, args, o.metric)
				return err
			})
			if err != nil {
				return err
			}
			text, err := s.notebook()
			if err != nil {
				return fmt.Errorf("notebook: %w", err)
			}
			if o.out == stdoutFile {
				_, err := a.stdout.Write(text)
				return err
			}
			if err := term.WriteNew(o.out, text, o.force); err != nil {
				err = fmt.Errorf("notebook: writing %s: %w", term.OneLine(o.out), err)
				if export.NotTheName(err) {
					return err
				}
				return usageError{err}
			}
			return a.reportNotebook(format, o.out, s)
		}),
	}
	cmd.Flags().StringVarP(&o.out, "out", "o", "neurolens.ipynb", "write to `FILE`; - for standard output")
	cmd.Flags().StringVar(&o.metric, "metric", "", "show the metric `NAME` (default: the primary metric of most points)")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace an existing file")
	return cmd
}

// checkNotebookFile refuses a file in a store that is asked.
func (a *app) checkNotebookFile(db *query.DB, file string) error {
	if file == stdoutFile {
		return nil
	}
	path, err := export.Resolved(file)
	if err != nil {
		return usageError{fmt.Errorf("notebook: -o %s: %w", term.OneLine(file), err)}
	}
	if store := db.Stores().Holds(path); store != "" {
		return usageError{fmt.Errorf("notebook: -o %s is inside the store %s", term.OneLine(file), term.OneLine(store))}
	}
	return nil
}

// reportNotebook says what was written.
func (a *app) reportNotebook(format, file string, s *subject) error {
	t := answer.Table{
		Columns: []answer.Column{
			{Name: "path", Type: answer.TypeText},
			{Name: "runs", Type: answer.TypeInteger},
			{Name: "points", Type: answer.TypeInteger},
			{Name: "sessions", Type: answer.TypeInteger},
		},
		Rows: [][]any{{filepath.ToSlash(file), int64(s.runs), int64(s.points), int64(s.sessions)}},
	}
	return a.print(format, t, func() term.View {
		v := term.RecordsView(t)
		v.Next = []string{"", "next  jupyter lab " + term.ShellWord(file)}
		return v
	})
}

// errUTF8 is what is wrong with a text that no notebook can have.
var errUTF8 = errors.New("want UTF-8")

// subject is what a notebook is about.
type subject struct {
	program string   // that it calls
	stores  []string // absolute paths
	filter  []string // as it was typed
	plan    chartdata.Plan
	sampled bool // there are samples

	runs, points, sessions int
}

// readNotebook asks the stores what there is to show.
func (a *app) readNotebook(ctx context.Context, db *query.DB, args []string, metric string) (*subject, error) {
	s := &subject{filter: args}
	for _, word := range args {
		if !utf8.ValidString(word) {
			return nil, usageError{fmt.Errorf("notebook: filter %q: %w", word, errUTF8)}
		}
	}
	for _, store := range a.readStores() {
		path, err := filepath.Abs(store)
		if err != nil {
			return nil, fmt.Errorf("notebook: store %s: %w", store, err)
		}
		s.stores = append(s.stores, path)
	}
	var err error
	if s.program, err = notebookProgram(); err != nil {
		return nil, err
	}
	text := filter.JoinArguments(args...)
	all, notNumbers, err := summary.Points(ctx, db, "notebook", text)
	if err != nil {
		return nil, err
	}
	a.reportNotNumbers(notNumbers)
	s.points = term.CountDistinct(term.Texts(all, func(p summary.Point) string { return string(p.PointID) }))
	for i := range all {
		s.runs += all[i].Runs
		s.sampled = s.sampled || all[i].SamplesMax != nil && *all[i].SamplesMax > 0
	}
	if s.sessions, err = db.WithoutWarnings().CountSessions(ctx, text); err != nil {
		return nil, err
	}
	s.plan, err = chartdata.Maker{}.Plan(chartdata.Points{All: all, Metric: metric})
	if refusal, is := errors.AsType[chartdata.Refusal](err); is && metric != "" {
		return nil, usageError{fmt.Errorf("notebook: %w", refusal)}
	} else if is {
		return s, nil // all runs failed, say: the notebook has no charts
	}
	return s, err
}

// name is what this program is called where it is installed.
const name = "neurolens"

// notebookProgram returns what the notebook calls: this program by its name, where a shell finds it by that, else by its path.
func notebookProgram() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("notebook: finding the neurolens program: %w", err)
	}
	found, _ := exec.LookPath(name) // empty: there is none
	if isSameFile(own, found) {
		return name, nil
	}
	return own, nil
}

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

// notebook returns the file about a subject.
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

// literal returns a text as Python writes it, in one line and without characters that are not seen: the escapes of Go are among those of
// Python.
func literal(text string) string { return strconv.Quote(text) }

// literals returns a list of texts.
func literals(texts []string) string {
	return "[" + strings.Join(term.Texts(texts, literal), ", ") + "]"
}

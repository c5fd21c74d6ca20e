package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/chartdata"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/files"
)

// target is where a figure goes, and as what.
type target struct {
	file  string // empty: standard output, as is printed
	image string // the format of a picture, or of what describes one; empty: there is none
	spec  string // as it was asked for
}

func (t *target) define(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&t.file, "out", "o", "", "write to `FILE`, which ends with .svg or .png; - for standard output")
	cmd.Flags().StringVar(&t.spec, "spec", "", "write a specification for another program, `NAME`: vega-lite")
}

// plotToStdout is the name of a file that is none.
const plotToStdout = "-"

// read finds out what was asked for, before anything is read. The format of a picture is taken away from the one of answers.
func (t *target) read(format *string, terminal bool) error {
	if t.spec != "" {
		return t.readSpec(*format)
	}
	asked, is := *format, isImage(*format)
	if t.image = ""; is {
		t.image, *format = asked, ""
	}
	switch {
	case t.file == "" && is, t.file == plotToStdout && is:
		if t.file = plotToStdout; terminal && asked != svg {
			return fmt.Errorf("--format %s would go to the terminal: -o chart.%s writes a file", asked, asked)
		}
		return nil
	case t.file == "":
		return nil
	case t.file == plotToStdout:
		return errors.New("-o -: want --format svg or --format png")
	}
	ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(t.file), "."))
	switch {
	case ending == "json":
		return fmt.Errorf("-o %s: want a name that ends with .svg or .png; --spec vega-lite writes JSON", term.OneLine(t.file))
	case ending == "pdf":
		return fmt.Errorf("-o %s: want a name that ends with .svg or .png; rsvg-convert, Inkscape and browsers make a PDF of an SVG", term.OneLine(t.file))
	case !isImage(ending):
		return fmt.Errorf("-o %s: want a name that ends with .svg or .png", term.OneLine(t.file))
	case asked != "" && asked != ending:
		return fmt.Errorf("-o %s and --format %s: the ending of the file is its format; leave --format out", term.OneLine(t.file), term.OneLine(asked))
	}
	t.image = ending
	return nil
}

// readSpec finds out where a specification goes.
func (t *target) readSpec(format string) error {
	ending := strings.ToLower(filepath.Ext(t.file))
	switch {
	case t.spec != vegaLite:
		return fmt.Errorf("--spec %q: want %s", t.spec, vegaLite)
	case format != "":
		return fmt.Errorf("--spec %s and --format %s: want one of them", t.spec, term.OneLine(format))
	case isImage(strings.TrimPrefix(ending, ".")):
		return fmt.Errorf("-o %s: a specification is JSON; leave --spec out for a picture", term.OneLine(t.file))
	case t.file == "":
		t.file = plotToStdout
	}
	t.image = vegaLite
	return nil
}

// write draws a figure where it was asked for.
func (d *drawing) write(f *chart.Figure) error {
	if d.to.image == "" {
		return d.print(f)
	}
	var b bytes.Buffer
	if err := written(d.to.image)(&b, f); err != nil {
		return fmt.Errorf("plot %s: drawing %s: %w", d.kind, d.to.image, err)
	}
	if d.to.file == plotToStdout {
		_, err := d.stdout.Write(b.Bytes())
		return err
	}
	if err := files.Replace(d.to.file, b.Bytes()); err != nil {
		return fmt.Errorf("plot %s: %w", d.kind, files.OfPlace(err))
	}
	fmt.Fprintln(d.stderr, term.OneLine(fmt.Sprintf("%s: %s of %s", d.to.file, d.kind, term.Count(f.Marks(), "mark"))))
	return nil
}

// print draws a figure for people, and prints its marks for programs.
func (d *drawing) print(f *chart.Figure) error {
	format, err := d.outputFormat()
	if err != nil {
		return err
	}
	if term.ForPeople(format) {
		return d.text(f, format == term.FormatMD)
	}
	return d.app.print(format, marksOf(f), nil)
}

// text draws a figure for people, in lines: in Markdown as a block of code, without colours.
func (d *drawing) text(f *chart.Figure, markdown bool) error {
	page := d.page()
	page.Color = page.Color && !markdown
	lines := chart.Text(f, page, chart.TextOptions{ASCII: term.WantsASCII(d.getenv)})
	if markdown {
		fence := "```"
		for strings.Contains(strings.Join(lines, "\n"), fence) { // a name may have one
			fence += "`"
		}
		lines = slices.Concat([]string{fence + "text"}, lines, []string{fence})
	}
	_, err := d.stdout.Write([]byte(strings.Join(lines, "\n") + "\n"))
	return err
}

// row is a mark with what it belongs to.
type row struct {
	panel  string
	series string
	tone   chart.Tone
	mark   chart.Mark
}

// marksOf are the marks of a figure as a table, in stored units.
func marksOf(f *chart.Figure) answer.Table {
	var rows []row
	for _, p := range f.Parts() {
		for _, s := range p.Series {
			for _, k := range s.Marks {
				r := row{p.Title, s.Name, k.Tone, k}
				if r.tone == chart.Plain {
					r.tone = s.Tone
				}
				rows = append(rows, r)
			}
		}
	}
	return answer.TableOf(markFields(f), rows)
}

// markFields are the columns of marks. A heatmap has one more.
func markFields(f *chart.Figure) []answer.Field[row] {
	text := func(name, meaning string, of func(r *row) string) answer.Field[row] {
		return answer.Field[row]{Column: answer.Column{Name: name, Type: answer.TypeText}, Meaning: meaning, Of: func(r *row) any { return answer.Text(of(r)) }}
	}
	number := func(name, unit, meaning string, of func(r *row) float64) answer.Field[row] {
		return answer.Field[row]{Column: answer.Column{Name: name, Type: answer.TypeReal, Unit: unit}, Meaning: meaning, Of: func(r *row) any {
			if v := of(r); !math.IsNaN(v) {
				return v
			}
			return nil
		}}
	}
	along := f.Y.Unit
	if f.Kind == chart.Forest {
		along = f.X.Unit
	}
	fields := []answer.Field[row]{
		text("panel", "the panel, if there are several", func(r *row) string { return r.panel }),
		text("series", "the series that the mark belongs to; in plot pareto front, of points that no other point is better than in both metrics, or beaten", func(r *row) string { return r.series }),
		text("word", "the verdict or the state", func(r *row) string { return r.mark.Word }),
		text("tone", "the meaning of its colour: neutral, regressed, improved, warned or failed", func(r *row) string { return string(r.tone) }),
		text("x_name", "horizontal position in words: a category or a time", func(r *row) string { return nameOf(f.X, r.mark.X) }),
		number("x", f.X.Unit, "horizontal position", func(r *row) float64 { return r.mark.X }),
		text("y_name", "vertical position in words", func(r *row) string { return nameOf(f.Y, r.mark.Y) }),
		number("y", f.Y.Unit, "vertical position", func(r *row) float64 { return r.mark.Y }),
		number("low", along, "the lower end of its interval", func(r *row) float64 { return r.mark.Low }),
		number("high", along, "the upper end", func(r *row) float64 { return r.mark.High }),
	}
	if f.Kind == chart.Heatmap {
		fields = append(fields, number("value", f.Values.Unit, "its value", func(r *row) float64 { return r.mark.Value }))
	}
	return append(fields,
		answer.Field[row]{Column: answer.Column{Name: "count", Type: answer.TypeInteger}, Meaning: "how many values it combines", Of: func(r *row) any { return int64(max(r.mark.Count, 1)) }},
		text("run_id", "the id of its run", func(r *row) string { return r.mark.Run }),
		text("point_id", "the id of its point", func(r *row) string { return r.mark.Point }),
		text("text", "a description of the mark", func(r *row) string { return r.mark.Text }),
		text("command", "the command that shows it", func(r *row) string { return r.mark.Command }))
}

// nameOf is a place of an axis that has words for it.
func nameOf(a chart.Axis, at float64) string {
	switch {
	case math.IsNaN(at):
	case a.Scale == chart.Categories && at >= 0 && int(at) < len(a.Categories):
		return a.Categories[int(at)]
	case a.Scale == chart.Time:
		return time.UnixMicro(int64(math.Round(at * 1e6))).UTC().Format(time.RFC3339)
	}
	return ""
}

// belowFlag draws the chart of an answer below it.
const belowFlag = "plot"

// belows are the commands that draw below what they say, each with the command of the chart and the arguments that it takes.
var belows = map[string]struct {
	chart func(*app) *cobra.Command
	args  func(a *app, cmd *cobra.Command, args []string) ([]string, error)
}{
	"compare": {forest, sameFile},
	"history": {trend, sameFile},
	"show":    {runs, ofRun},
}

// addPlotFlags gives --plot to the commands of a program that draw below what they say. Flags that the chart has as well hold for both.
func (a *app) addPlotFlags(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		below, draws := belows[cmd.Name()]
		if !draws {
			continue
		}
		chart, answer := below.chart(a), cmd.RunE
		asked := cmd.Flags().Bool(belowFlag, false, "draw a chart below, as plot "+chart.Name()+" does")
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if !*asked {
				return answer(cmd, args)
			}
			if format, err := a.outputFormat(); err != nil || !term.ForPeople(format) {
				return first(err, usageError{fmt.Errorf("--plot needs a format for people: neurolens plot %s --format %s prints what would be drawn", chart.Name(), format)})
			}
			failed := answer(cmd, args)
			err := a.drawBelow(chart, below.args, cmd, args)
			if refusal, is := errors.AsType[chartdata.Refusal](err); is { // there is an answer all the same
				fmt.Fprintln(a.stdout, "not drawn: "+refusal.Error())
				err = nil
			}
			return first(failed, err)
		}
	}
}

// first is the first error that is one.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// draw runs the command of a chart with the flags of another command.
func (a *app) drawBelow(chart *cobra.Command, of func(*app, *cobra.Command, []string) ([]string, error), cmd *cobra.Command, args []string) error {
	args, err := of(a, cmd, args)
	if err != nil {
		return err
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if own := chart.Flags().Lookup(f.Name); own != nil && err == nil {
			err = setAs(own, f)
		}
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(a.stdout)
	chart.SetContext(cmd.Context())
	return chart.RunE(chart, args)
}

// setAs gives a flag the value of another one.
func setAs(own, other *pflag.Flag) error {
	list, isList := other.Value.(pflag.SliceValue)
	if ownList, both := own.Value.(pflag.SliceValue); isList && both {
		return ownList.Replace(list.GetSlice())
	}
	return own.Value.Set(other.Value.String())
}

// sameFile are the arguments as they are.
func sameFile(_ *app, _ *cobra.Command, args []string) ([]string, error) { return args, nil }

// ofRun is the filter for the run that show was asked for: the newest one without an argument.
func ofRun(a *app, cmd *cobra.Command, args []string) ([]string, error) {
	if len(args) > 0 && args[0] != "last" {
		return []string{"run=" + args[0]}, nil
	}
	var filter []string
	err := a.queryCharts(cmd, func(db *query.DB) error {
		id, err := db.Quiet().Newest(cmd.Context())
		filter = []string{"run=" + id}
		return err
	})
	return filter, err
}

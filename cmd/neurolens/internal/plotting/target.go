package plotting

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
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

// toStdout is the name of a file that is none.
const toStdout = "-"

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
	case t.file == "" && is, t.file == toStdout && is:
		if t.file = toStdout; terminal && asked != svg {
			return fmt.Errorf("--format %s would go to the terminal: -o chart.%s writes a file", asked, asked)
		}
		return nil
	case t.file == "":
		return nil
	case t.file == toStdout:
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
		t.file = toStdout
	}
	t.image = vegaLite
	return nil
}

// write draws a figure where it was asked for.
func (d *drawing) write(f *figure.Figure) error {
	if d.to.image == "" {
		return d.print(f)
	}
	var b bytes.Buffer
	if err := written(d.to.image)(&b, f); err != nil {
		return fmt.Errorf("plot %s: drawing %s: %w", d.kind, d.to.image, err)
	}
	if d.to.file == toStdout {
		_, err := d.Stdout.Write(b.Bytes())
		return err
	}
	if err := files.Replace(d.to.file, b.Bytes()); err != nil {
		return fmt.Errorf("plot %s: %w", d.kind, files.OfPlace(err))
	}
	fmt.Fprintln(d.Stderr, term.OneLine(fmt.Sprintf("%s: %s of %s", d.to.file, d.kind, term.Count(f.Marks(), "mark"))))
	return nil
}

// print draws a figure for people, and prints its marks for programs.
func (d *drawing) print(f *figure.Figure) error {
	format, err := d.Formatted()
	if err != nil {
		return err
	}
	if output.ForPeople(format) {
		return d.text(f, format == output.FormatMD)
	}
	return d.Print(format, marksOf(f), nil)
}

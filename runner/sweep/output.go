package sweep

import (
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/schema"
)

// stdoutWord is standard output where a file could stand.
const stdoutWord = "stdout"

// keepWord is what output says of a standard output that is kept with the run.
const keepWord = "keep"

// Output defines where a command writes the numbers that it computes. The numbers of each process of a run count.
type Output struct {
	From   string // stdout, or a file
	Format string // see term.Formats
}

// outputSpec is what the key output says.
type outputSpec struct {
	from   template
	format string
}

// readOutput reads the key output.
func (p *program) readOutput(d *document) error {
	f := d.keys["output"]
	to := f
	if f.given() && f.Kind == yaml.MappingNode {
		said, err := f.known("output.", keyNames(outputKeys))
		if err != nil {
			return err
		}
		if to = said["to"]; !to.given() || len(said) > 1 {
			if err := p.readNumbers(said["from"], said["read"]); err != nil {
				return err
			}
		}
	}
	if f.given() {
		d.request("output", f)
	}
	if option := d.option("output"); option.given() {
		d.request("output", option)
		said, err := option.known("", keyNames(outputKeys))
		if err != nil {
			return err
		}
		to = said["to"]
		to.origin, to.what = option.origin, ""
	}
	return p.readOutputTo(to)
}

// readNumbers reads where the numbers stand that a command computes.
func (p *program) readNumbers(from, read field) error {
	spec := outputSpec{from: template{parts: []part{{stdoutWord, -1}}}, format: "text"}
	if from.given() {
		if _, err := from.text(); err != nil {
			return err
		}
		var err error
		if spec.from, err = from.template(p.scope); err != nil {
			return err
		}
	}
	if read.given() {
		var err error
		if spec.format, err = read.oneOf(output.Formats); err != nil {
			return err
		}
	}
	p.output = &spec
	return nil
}

// readOutputTo reads where standard output goes.
func (p *program) readOutputTo(f field) error {
	if !f.given() {
		return nil
	}
	if f.ShortTag() == "!!null" {
		p.around.stdout = &template{parts: []part{{os.DevNull, -1}}, at: f}
		return nil
	}
	read := f.text
	if isBinary(f.Node) {
		read = f.argument
	}
	text, err := read()
	if err != nil {
		return err
	}
	if text == stdoutWord {
		return f.errorf("want null, keep or a file, got stdout: to read numbers from standard output, write {from: stdout}")
	}
	if p.around.keep = text == keepWord; p.around.keep {
		return nil
	}
	if near := schema.Nearest(text, []string{keepWord, "null"}); near != "" && !strings.ContainsAny(text, "/.{") {
		return f.errorf("did you mean %s? For a file of that name, write ./%s", near, text)
	}
	t, err := f.parse(text, p.scope)
	p.around.stdout = &t
	return err
}

// checkOutput refuses a standard output that goes elsewhere, and that the sweep reads or keeps.
func (p *program) checkOutput(point *Point) error {
	if point.Stdout == "" {
		return nil
	}
	reads := ""
	for i := range point.Metrics {
		if point.Metrics[i].From == stdoutWord {
			reads = "metric " + point.Metrics[i].Name
		}
	}
	switch {
	case point.Output != nil && point.Output.From == stdoutWord:
		reads = "output.from"
	case point.Artifacts != nil && slices.Contains(point.Artifacts.Files, Stdout):
		reads = "artifacts"
	}
	if reads == "" {
		return nil
	}
	return p.around.stdout.at.errorf("standard output goes to %s, but %s reads standard output: name the file there, or remove this", shorten(point.Stdout), reads)
}

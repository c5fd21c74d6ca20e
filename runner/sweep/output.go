package sweep

import "github.com/neurolens/neurolens/runner/output"

// stdoutWord is standard output where a file could stand.
const stdoutWord = "stdout"

// Output says where the numbers stand that a command computes. Those of each process of a run count.
type Output struct {
	From   string // stdout, or a file
	Format string // see output.Formats
}

// outputSpec is what the key output says.
type outputSpec struct {
	from   template
	format string
}

// readOutput reads the key output.
func (p *program) readOutput(d *document) error {
	f := d.keys["output"]
	if !f.given() {
		return nil
	}
	said, err := f.known("output.", keyNames(outputKeys))
	if err != nil {
		return err
	}
	spec := outputSpec{from: template{parts: []part{{stdoutWord, -1}}}, format: "text"}
	if from := said["from"]; from.given() {
		if _, err := from.text(); err != nil {
			return err
		}
		if spec.from, err = from.template(p.scope); err != nil {
			return err
		}
	}
	if read := said["read"]; read.given() {
		if spec.format, err = read.oneOf(output.Formats); err != nil {
			return err
		}
	}
	d.ask("output", f)
	p.output = &spec
	return nil
}

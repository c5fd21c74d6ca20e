package sweep

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"
)

// maxThreads is more than any machine has.
const maxThreads = 1 << 20

// pythonTexts are the texts that say on what a Python worker runs.
type pythonTexts []pythonText

// pythonText is the value of a key: a text, else that of the axis of its name.
type pythonText struct {
	name string
	text *template
	axis int // -1: there is none
}

// readPythonTexts reads python, provider, device and threads, and what the command line says instead.
func readPythonTexts(d *document, s *scope, o Overrides) (pythonTexts, error) {
	var p pythonTexts
	for _, key := range []struct{ name, option string }{
		{"python", o.Python}, {"provider", o.Provider}, {"device", o.Device}, {"threads", ""},
	} {
		text := pythonText{name: key.name, axis: -1}
		if key.name != "python" { // its axis has no use but in the text
			text.axis, _ = findAxis(s.axes, key.name)
		}
		var err error
		if key.option != "" {
			text.text, err = text.option(d, key.option)
		} else if f := d.keys[key.name]; f.given() {
			text.text, err = text.read(d, f, s)
		}
		if err != nil {
			return nil, err
		}
		p = append(p, text)
	}
	return p, nil
}

// option takes a text of the command line as it is.
func (p *pythonText) option(d *document, text string) (*template, error) {
	f := option("--"+p.name, "!!str", text)
	if err := checkOption(f.name, text); err != nil {
		return nil, err
	}
	if p.axis >= 0 {
		return nil, f.errorf("%s is an axis of this sweep: use -P %s=VALUE", p.name, p.name)
	}
	if p.name != "python" { // which may come from the environment, for any sweep
		d.ask(p.name, f)
	}
	return &template{parts: []part{{text, -1}}, at: f}, nil
}

// read reads a text of the file. An axis of the same name has to stand in it: its values would change nothing.
func (p *pythonText) read(d *document, f field, s *scope) (*template, error) {
	t, err := f.template(s)
	if err != nil {
		return nil, err
	}
	if p.axis >= 0 && !t.uses(p.axis) {
		return nil, f.errorf("is an axis too: write {%s} in it, or remove it", p.name)
	}
	d.ask(p.name, f)
	return &t, nil
}

// fill gives the text at a point, and where it comes from.
func (p *pythonText) fill(row []*value) (text string, at field, given bool) {
	switch {
	case p.text != nil:
		return p.text.fill(row), p.text.at, true
	case p.axis >= 0:
		return row[p.axis].text, row[p.axis].at, true
	}
	return "", field{}, false
}

// set gives a point the texts that mean something to its executor.
func (p pythonTexts) set(point *Point, row []*value) error {
	for i := range p {
		key := &p[i]
		text, at, given := key.fill(row)
		if !given || !takes(point.Executor, key.name) {
			continue
		}
		if text == "" {
			return at.errorf("is empty")
		}
		switch key.name {
		case "python":
			point.Python = text
		case "provider":
			point.Provider = text
		case "device":
			point.Device = text
		case "threads":
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > maxThreads {
				return at.errorf("want a whole number from 1 to %d, got %q", maxThreads, shorten(text))
			}
			point.Threads = n
		}
	}
	return nil
}

// checkSeed refuses a seed beside an axis of that name: {seed} would be one of them, and the worker's the other.
func (d *document) checkSeed(axes []axis) error {
	at := slices.IndexFunc(d.asked, func(r request) bool { return r.key == "seed" })
	axis, _ := findAxis(axes, "seed")
	switch {
	case at < 0 || axis < 0:
		return nil
	case d.asked[at].at.lines:
		return d.asked[at].at.errorf("is an axis too: remove one of them")
	}
	return d.asked[at].at.errorf("seed is an axis of this sweep: use -P seed=VALUE")
}

// option gives a text of the command line the checks of a value in the file.
func option(name, tag, text string) field {
	return field{&yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}, origin{name: name}, "", 0}
}

package sweep

import (
	"slices"
	"strconv"
)

// pythonTexts are the texts that say on what a Python worker runs.
type pythonTexts []pythonText

// pythonText is the value of a key: a text, else that of the axis of its name.
type pythonText struct {
	Key
	text *template
	axis int // -1: there is none
}

// readPythonTexts reads the keys that say on what a worker runs, and what the command line says instead.
func readPythonTexts(d *document, s *scope) (pythonTexts, error) {
	var p pythonTexts
	for _, name := range []string{"python", "provider", "device", "threads"} {
		text := pythonText{Key: keyOf(name), axis: -1}
		if name != "python" { // its axis has no use but in the text
			text.axis, _ = findAxis(s.axes, name)
		}
		var err error
		if f := d.option(name); f.given() {
			text.text, err = text.option(d, f)
		} else if f := d.keys[name]; f.given() {
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
func (p *pythonText) option(d *document, f field) (*template, error) {
	if err := checkOption(f.name, f.Value); err != nil {
		return nil, err
	}
	if p.axis >= 0 {
		return nil, f.errorf("%s is an axis of this sweep: use -P %s=VALUE", p.Name, p.Name)
	}
	if p.Name != "python" { // which may come from the environment, for any sweep
		d.request(p.Name, f)
	}
	return &template{parts: []part{{f.Value, -1}}, at: f}, nil
}

// read reads a text of the file. An axis of the same name has to stand in it: its values would change nothing.
func (p *pythonText) read(d *document, f field, s *scope) (*template, error) {
	t, err := f.template(s)
	if err != nil {
		return nil, err
	}
	if p.axis >= 0 && !t.uses(p.axis) {
		return nil, f.errorf("there is an axis %[1]s too: write {%[1]s} here, or remove this key", p.Name)
	}
	d.request(p.Name, f)
	return &t, nil
}

// fill returns the text at a point, and where it comes from.
func (p *pythonText) fill(row []*value) (text string, at field, given bool) {
	switch {
	case p.text != nil:
		return p.text.fill(row), p.text.at, true
	case p.axis >= 0:
		return row[p.axis].text, row[p.axis].at, true
	}
	return "", field{}, false
}

// set gives a point the texts that its executor uses.
func (p pythonTexts) set(point *Point, row []*value) error {
	for i := range p {
		key := &p[i]
		text, at, given := key.fill(row)
		if !given || !key.takes(point.Executor) {
			continue
		}
		if text == "" {
			return at.errorf("is empty")
		}
		if key.Name == "python" {
			var err error
			if text, err = ExpandPath(text); err != nil {
				return at.errorf("%v", err)
			}
		}
		switch to := key.point(point).(type) {
		case *string:
			*to = text
		case *int:
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > maxThreads {
				return at.errorf("want a whole number from 1 to %d, got %q", maxThreads, shorten(text))
			}
			*to = n
		}
	}
	return nil
}

// checkSeed refuses a seed beside an axis of that name where {seed} in a command would be one of them, and the seed of the worker the other.
// A Python function may have a parameter seed beside it: some kernels draw numbers of their own.
func (d *document) checkSeed(axes []axis) error {
	at := slices.IndexFunc(d.requests, func(r request) bool { return r.key == "seed" })
	axis, _ := findAxis(axes, "seed")
	switch {
	case at < 0 || axis < 0 || d.keys["file"].given():
		return nil
	case d.requests[at].at.lines:
		return d.requests[at].at.errorf("there is an axis seed too: remove one of them")
	}
	return d.requests[at].at.errorf("seed is an axis of this sweep: use -P seed=VALUE")
}

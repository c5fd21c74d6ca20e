package sweep

import "slices"

// readMapped reads an axis that is a map from each value to the arguments that it stands for:
// backend: {cpu: [], mps: [--mps]}. A word {backend} of a command then is those arguments, each a word of its own.
// Elsewhere {backend} is the value itself, and so it is in the store.
func readMapped(name string, f field) (axis, error) {
	a := axis{name: name, at: f}
	for pair := range slices.Chunk(f.Content, 2) {
		v, err := readValue(name, f.with(pair[0], f.what))
		if err != nil {
			return axis{}, err
		}
		v.mapped = true
		if v.arguments, err = f.with(pair[1], f.what+"."+shorten(v.text)).arguments(); err != nil {
			return axis{}, err
		}
		a.values = append(a.values, v)
	}
	if len(a.values) == 0 {
		return axis{}, f.errorf("has no values")
	}
	return a, nil
}

// arguments are words of a command: a list of them, one, or none. They are the same at every point.
func (f field) arguments() ([]string, error) {
	if f.ShortTag() == "!!null" {
		return nil, nil
	}
	if err := f.checkWords(); err != nil {
		return nil, err
	}
	var words []string
	for _, item := range f.items() {
		word, err := item.argument()
		if err != nil {
			return nil, err
		}
		if err := item.checkUnfilled(word); err != nil {
			return nil, err
		}
		words = append(words, word)
	}
	return words, nil
}

// giveArguments gives values that were selected from those of the axis their arguments.
func (a *axis) giveArguments(values []value) error {
	if !a.mapped() {
		return nil
	}
	for i := range values {
		at := slices.IndexFunc(a.values, func(v value) bool { return v.text == values[i].text })
		if at < 0 {
			return values[i].at.errorf("%s has no arguments in the sweep: %s", values[i].at.got(), remedy(values[i].text, a.texts()))
		}
		values[i].mapped, values[i].arguments = true, a.values[at].arguments
	}
	return nil
}

// mapped reports whether the values of the axis stand for arguments.
func (a *axis) mapped() bool { return len(a.values) > 0 && a.values[0].mapped }

// texts are the values of the axis.
func (a *axis) texts() []string {
	texts := make([]string, len(a.values))
	for i := range a.values {
		texts[i] = a.values[i].text
	}
	return texts
}

// word is the axis that a text is the whole of; -1: it is more or something else.
func (t template) word() int {
	if len(t.parts) == 1 {
		return t.parts[0].axis
	}
	return -1
}

// addTo adds the words that the text is at a point: one, or the arguments that a value stands for.
func (t template) addTo(words []string, row []*value) []string {
	if axis := t.word(); axis >= 0 && row[axis].mapped {
		return append(words, row[axis].arguments...)
	}
	return append(words, t.fill(row))
}

// checkArguments refuses an axis whose arguments stand in no command.
func (p *program) checkArguments() error {
	lists := append([]texts{p.wrapper, p.command}, p.build...)
	for i := range p.scope.axes {
		a := &p.scope.axes[i]
		stands := func(l texts) bool {
			return slices.ContainsFunc(l.templates, func(t template) bool { return t.word() == i })
		}
		if a.mapped() && !slices.ContainsFunc(lists, stands) {
			return a.at.errorf("its arguments are not used: write {%s} as a word of command, wrapper or build", a.name)
		}
	}
	return nil
}

package sweep

import (
	"cmp"
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// spelled are the axes that have several names.
var spelled = []string{"batch_size", "seq_len", "precision"}

// Spellings are the names by which a Python benchmark may take the axes of the point that have several: first the one that was written,
// then that of the axis, then the others.
func (p *Point) Spellings() map[string][]string {
	all := map[string][]string{}
	for _, axis := range spelled {
		if p.textOf(axis) == "" {
			continue
		}
		all[axis] = spellings(axis, p.Called[axis])
	}
	return all
}

// spellings are the names of an axis, the one that was written first.
func spellings(axis, written string) []string {
	first := cmp.Or(written, axis)
	names := schema.AxisSpellings(axis)
	return append([]string{first}, slices.DeleteFunc(names, func(name string) bool { return name == first })...)
}

// WrittenTexts are the values of axes as they were written, if a Python benchmark cannot know them from the stored ones: float32 for fp32.
func (p *Point) WrittenTexts() map[string]string {
	if text := p.Written["precision"]; text != "" {
		return map[string]string{"precision": text}
	}
	return nil
}

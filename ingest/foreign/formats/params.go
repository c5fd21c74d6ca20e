package formats

import (
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// param is a parameter in a name.
type param struct{ name, text string }

// setParams gives a run all of the parameters, or none where two of them are the same axis: bs and batch_size, n and n.
func setParams(r *schema.Run, params []param) bool {
	for i, p := range params {
		for _, other := range params[:i] {
			if schema.CanonicalAlias(p.name) == schema.CanonicalAlias(other.name) {
				return false
			}
		}
	}
	for _, p := range params {
		setText(r, p.name, p.text)
	}
	return true
}

// setText is foreign.SetParam, but for words, which are most of the texts in names, without the attempt at a number.
func setText(r *schema.Run, name, text string) {
	if text != "" && !strings.ContainsRune("+-.0123456789", rune(text[0])) {
		foreign.SetAxis(r, name, text)
		return
	}
	foreign.SetParam(r, name, text)
}

package runner

import (
	"encoding/json"

	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/schema"
)

// hideFlags masks the options of the command line: a JSON map of texts, some of which are JSON lists of texts. Each text is
// masked separately, so that quotes are not mistaken for parts of a secret.
func hideFlags(flags string, m probe.Mask) string {
	var given map[string]any
	if err := json.Unmarshal([]byte(flags), &given); err != nil {
		return m.Text(flags)
	}
	for name, value := range given {
		text, _ := value.(string)
		var list []any
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			given[name] = m.Text(text)
			continue
		}
		for i, word := range list {
			if word, ok := word.(string); ok {
				list[i] = m.Text(word)
			}
		}
		given[name] = canonical(list)
	}
	return canonical(given)
}

// canonical is the JSON of what was read from JSON, which always has one.
func canonical(value any) string {
	text, err := schema.CanonicalJSON(value)
	if err != nil {
		return ""
	}
	return text
}

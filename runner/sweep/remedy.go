package sweep

import (
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// remedy says what may have been meant by a name that is none of known.
func remedy(name string, known []string) string {
	if schema.IsAxisColumn(schema.CanonicalAlias(name)) {
		return "an axis belongs under grid"
	}
	if near := schema.Nearest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	if len(known) == 0 {
		return "there is none here"
	}
	return "want one of " + strings.Join(known, " ")
}

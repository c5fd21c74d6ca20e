package foreign

import (
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// nulRemoved is the note and the warning about a run whose names had NUL characters, which come from fixed-size buffers
// of C. They are removed, because no command line, and so no filter, can contain them. Other control characters stay: a
// shell can type them.
const nulRemoved = "NUL characters were removed from its names"

// removeNUL removes the NUL characters from the names by which people find a run, and reports whether there were any.
func removeNUL(r *schema.Run) bool {
	found := false
	clean := func(text string) string {
		if strings.IndexByte(text, 0) < 0 {
			return text
		}
		found = true
		return strings.ReplaceAll(text, "\x00", "")
	}
	for _, name := range []*string{
		&r.Suite, &r.Benchmark, &r.Variant, &r.Backend, &r.BackendVersion, &r.Model,
		&r.Env.Machine, &r.Env.Hostname, &r.Env.CPUModel, &r.Env.GPUName, &r.Env.GitCommit, &r.Env.GitBranch,
	} {
		*name = clean(*name)
	}
	for _, texts := range []map[string]string{r.Params, r.Applied, r.Tags, r.Env.Facts} {
		for name, text := range texts {
			kept := clean(name)
			if value := clean(text); kept != name || value != text {
				delete(texts, name)
				texts[kept] = value
			}
		}
	}
	return found
}

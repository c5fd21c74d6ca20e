package sweep

import (
	"encoding/json"
	"io/fs"

	"github.com/neurolens/neurolens/runner/discover"
	"github.com/neurolens/neurolens/schema"
)

// factsOf describes each Python file that discover found as `neurolens discover` does, for those who read a run without the project.
func factsOf(root fs.FS, benchmarks []discover.Benchmark) map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, b := range benchmarks {
		config, err := discover.Settings(root, &b)
		if err != nil {
			config = nil // bench says what is wrong with it
		}
		for _, v := range b.Variants {
			facts := map[string]string{}
			if v.Backend != "" {
				facts[schema.FactFoundBackend] = v.Backend
			}
			if text, err := json.Marshal(v.Imports); err == nil && len(v.Imports) > 0 {
				facts[schema.FactFoundImports] = string(text)
			}
			if text, err := json.Marshal(config); err == nil && len(config) > 0 {
				facts[schema.FactFoundConfig] = string(text)
			}
			all[v.File] = facts
		}
	}
	return all
}

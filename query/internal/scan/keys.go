package scan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema"
)

// SuggestKey suggests a column, parameter or metric with a similar spelling ("; did you mean x?"); empty: none.
func SuggestKey(key string, parameters []string) string {
	lower := strings.ToLower(key)
	_, metric := schema.KindOfMetric(key)
	prefix, name, _ := strings.Cut(key, ":")
	near := ""
	switch {
	case name != "" && !filter.FieldOf(prefix+"."+name).Bare:
		near = prefix + "." + name
	case elsewhere[lower] != "":
		near = elsewhere[lower]
	case lower != key && !filter.FieldOf(lower).Bare:
		near = lower
	case lower == "n":
		near = "n_samples"
	case metric:
		near = filter.MetricPrefix + key
	default:
		candidates := append(slices.Clone(parameters), filter.Names()...)
		for _, c := range schema.Runs.Columns {
			candidates = append(candidates, c.Name)
		}
		near = schema.Nearest(key, candidates)
	}
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", near)
}

// elsewhere are other common names of keys.
var elsewhere = map[string]string{
	"host": "machine", "hostname": "machine", "node": "machine", "gpu": "gpu_name", "name": "benchmark", "test": "benchmark", "date": "when", "time": "when",
	"id": "run", "sha": "commit", "revision": "commit",
}

// SuggestRate suggests the rate of a unit, such as MB/s for MB; empty: there is none.
func SuggestRate(unit string) string {
	if _, _, known := schema.StoredUnit(unit + "/s"); known {
		return "; did you mean " + unit + "/s?"
	}
	return ""
}

// SuggestWord is Key for a condition of a filter, which may also be a negation as in other tools (-key=value), or a value without a key.
func SuggestWord(w *filter.Word, parameters []string) string {
	if bare, negated := strings.CutPrefix(w.Key, "-"); negated && (!filter.FieldOf(bare).Bare || slices.Contains(parameters, bare)) {
		return "; did you mean not " + answer.Brief(strings.TrimPrefix(w.Text, "-")) + "?"
	}
	if _, ok := filter.LastButN(w.Text); ok {
		return "; did you mean " + filter.KeySession + "=" + w.Text + "?"
	}
	return SuggestKey(w.Key, parameters)
}

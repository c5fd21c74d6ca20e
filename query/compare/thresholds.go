package compare

import (
	"maps"
	"strings"

	"github.com/neurolens/neurolens/query/internal/sides"
	"github.com/neurolens/neurolens/query/threshold"
)

// thresholdFact begins the facts of runs that say what their sweep calls no difference, as threshold.Parse reads it; the
// metric follows.
const thresholdFact = "runner.threshold."

// thresholdsOf adds those that sweeps gave to those that are given. Of two of one metric neither counts.
func thresholdsOf(f sides.Facts, given threshold.Set) threshold.Set {
	all := maps.Clone(given)
	if all == nil {
		all = threshold.Set{}
	}
	_, general := given[""]
	for name, values := range f {
		metric, ok := strings.CutPrefix(name, "env."+thresholdFact)
		if _, has := given[metric]; !ok || has || len(values) != 1 {
			continue
		}
		for text := range values {
			if t, err := threshold.Parse(text); err == nil && (t.Absolute || !general) {
				all[metric] = t
			}
		}
	}
	return all
}

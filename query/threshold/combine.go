package threshold

import (
	"fmt"
	"strings"
)

// Fact is the prefix of the facts in which runs have the thresholds of their sweep. The name of the metric follows; the value is as
// Parse reads it.
const Fact = "runner.threshold."

// Combiner makes the thresholds of points from those that were given, those of their sweeps, and the usual ones. Points with the same
// thresholds share one set.
type Combiner struct {
	Given, Usual Set
	made         map[string]Set
}

// Of is the set of thresholds of a point whose runs have these facts, by their names. A fact that Parse refuses is left out.
func (c *Combiner) Of(facts map[string]string) Set {
	key := ""
	if len(facts) > 0 { // most points have none
		key = fmt.Sprint(facts) // prints maps sorted by key
	}
	if set, ok := c.made[key]; ok {
		return set
	}
	sweeps := Set{}
	for name, text := range facts {
		if t, err := Parse(text); err == nil {
			sweeps[strings.TrimPrefix(name, Fact)] = t
		}
	}
	if c.made == nil {
		c.made = map[string]Set{}
	}
	c.made[key] = c.Given.Over(sweeps.Over(c.Usual))
	return c.made[key]
}

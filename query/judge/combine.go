package judge

import (
	"fmt"
	"strings"
)

// ThresholdFact is the prefix of the facts in which runs have the thresholds of their sweep. The name of the metric follows; the value is as
// Parse reads it.
const ThresholdFact = "runner.threshold."

// ThresholdCombiner makes the thresholds of points from those that were given, those of their sweeps, and the usual ones. Points with the same
// thresholds share one set.
type ThresholdCombiner struct {
	Given, Usual Thresholds
	made         map[string]Thresholds
}

// Of is the set of thresholds of a point whose runs have these facts, by their names. A fact that Parse refuses is left out.
func (c *ThresholdCombiner) Of(facts map[string]string) Thresholds {
	key := ""
	if len(facts) > 0 { // most points have none
		key = fmt.Sprint(facts) // prints maps sorted by key
	}
	if set, ok := c.made[key]; ok {
		return set
	}
	sweeps := Thresholds{}
	for name, text := range facts {
		if t, err := ParseThreshold(text); err == nil {
			sweeps[strings.TrimPrefix(name, ThresholdFact)] = t
		}
	}
	if c.made == nil {
		c.made = map[string]Thresholds{}
	}
	c.made[key] = c.Given.Over(sweeps.Over(c.Usual))
	return c.made[key]
}

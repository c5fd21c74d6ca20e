package judge

import (
	"fmt"
	"maps"
	"math"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// Threshold is a share (0.05), or an amount in the unit of its metric, which is then compared by difference.
type Threshold struct {
	Value    float64
	Absolute bool
	Unit     string // stored unit of an amount; empty: the unit of the metric
}

// ParseThreshold parses a threshold: a share (5%), or an amount (0.001, 2 ms). An amount without a unit is in the stored unit. Other texts,
// negative values and infinite values are an ErrInput.
func ParseThreshold(text string) (Threshold, error) {
	q, err := schema.ParseQuantity(text)
	if err != nil || q.Value < 0 {
		return Threshold{}, answer.InputError("threshold %q: want a share (5%%) or an amount (0.001, 2 ms)", answer.Brief(text))
	}
	stored, factor, known := schema.StoredUnit(q.Unit)
	if q.Unit != "" && !known {
		return Threshold{}, answer.InputError("threshold %q: unit %q is not known", answer.Brief(text), answer.Brief(q.Unit))
	}
	t := Threshold{Value: q.Value * factor, Absolute: q.Unit != "%"}
	if math.IsInf(t.Value, 0) {
		return Threshold{}, answer.InputError("threshold %q: it is too large", answer.Brief(text))
	}
	if t.Absolute {
		t.Unit = stored
	}
	return t, nil
}

// In returns the threshold on the scale on which a metric is compared; for a ratio it is a logarithm, and the threshold must be a share.
// By difference, a share is relative to level.
func (t Threshold) In(scale schema.Scale, level float64) float64 {
	switch {
	case t.Absolute:
		return t.Value
	case scale == schema.ScaleDifference:
		return t.Value * math.Abs(level)
	}
	return math.Log1p(t.Value)
}

// Thresholds has thresholds per metric. The empty name stands for all other metrics.
type Thresholds map[string]Threshold

// For returns the threshold of a metric: its own, or the one of the empty name if it has the same kind, or the default.
func (s Thresholds) For(metric string) Threshold {
	byDifference := schema.ScaleOf(metric) == schema.ScaleDifference
	if t, ok := s[metric]; ok {
		return t
	}
	if t, ok := s[""]; ok && t.Absolute == byDifference {
		return t
	}
	if byDifference {
		return Threshold{Absolute: true}
	}
	return Threshold{Value: DefaultThreshold}
}

// Over combines two sets; s has precedence over below. A share for all metrics in s also overrides shares of single metrics in below.
func (s Thresholds) Over(below Thresholds) Thresholds {
	all := Thresholds{}
	_, general := s[""]
	for metric, t := range below {
		if t.Absolute || !general {
			all[metric] = t
		}
	}
	maps.Copy(all, s)
	return all
}

// ParseThresholds parses the values of --threshold: METRIC=AMOUNT for one metric, or a share for all. Errors are ErrInput.
func ParseThresholds(texts []string) (Thresholds, error) {
	all := Thresholds{}
	for _, text := range texts {
		metric, amount, found := strings.Cut(text, "=")
		if !found {
			metric, amount = "", text
		}
		t, err := ParseThreshold(amount)
		switch {
		case err != nil && metric == "":
			return nil, answer.InputError("--threshold %q: want a share (5%%), or METRIC=AMOUNT", answer.Brief(text))
		case err != nil:
			return nil, answer.InputError("--%v", err)
		case metric == "" && t.Absolute:
			return nil, answer.InputError("--threshold %q: without a metric it is a share: 5%%", answer.Brief(text))
		case found && metric == "":
			return nil, answer.InputError("--threshold %q: want METRIC=AMOUNT, or a share of all metrics: 5%%", answer.Brief(text))
		case t.Absolute && t.Unit == "" && t.Value != 0 && measuredInUnits(metric):
			return nil, answer.InputError("--threshold %q: want a share (%s=5%%), or an amount with its unit", answer.Brief(text), answer.Brief(metric))
		}
		all[metric] = t
	}
	return all, nil
}

// measuredInUnits reports whether a metric is known to have a unit, so that a number without a unit would be tiny.
func measuredInUnits(metric string) bool {
	kind, known := schema.KindOfMetric(metric)
	return known && kind.Scale != schema.ScaleDifference && kind.Unit != "" && kind.Unit != "ratio"
}

// ThresholdCombiner combines the given thresholds, the thresholds of the sweeps of points, and the defaults. Points with the same
// thresholds share one set.
type ThresholdCombiner struct {
	Given, Usual Thresholds
	made         map[string]Thresholds
}

// Of returns the set of thresholds of a point whose runs have these facts, by their names. A fact that ParseThreshold rejects is left
// out.
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
			sweeps[strings.TrimPrefix(name, schema.FactThreshold)] = t
		}
	}
	if c.made == nil {
		c.made = map[string]Thresholds{}
	}
	c.made[key] = c.Given.Over(sweeps.Over(c.Usual))
	return c.made[key]
}

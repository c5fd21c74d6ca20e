// Package threshold has the differences that nobody wants to hear of: what a change has to be at least, to be one.
package threshold

import (
	"maps"
	"math"
	"strings"

	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// Threshold is a difference that nobody wants to hear of: a share (0.05) of a metric that is compared by its ratio, or
// an amount in its unit of one that is compared by its difference.
type Threshold struct {
	Value    float64
	Absolute bool
	Unit     string // the stored unit of an amount; empty: that of the metric
}

// Parse reads a threshold: a share (5%), or an amount (0.001, 2 ms), which without a unit is one in the stored unit.
// Anything else is an ErrInput, and so is what is below 0 or not finite.
func Parse(text string) (Threshold, error) {
	q, err := schema.ParseQuantity(text)
	if err != nil || q.Value < 0 {
		return Threshold{}, fault.Input("threshold %q: want a share (5%%) or an amount (0.001, 2 ms)", fault.Brief(text))
	}
	stored, factor, known := schema.StoredUnit(q.Unit)
	if q.Unit != "" && !known {
		return Threshold{}, fault.Input("threshold %q: unit %q is not known", fault.Brief(text), fault.Brief(q.Unit))
	}
	t := Threshold{Value: q.Value * factor, Absolute: q.Unit != "%"}
	if math.IsInf(t.Value, 0) {
		return Threshold{}, fault.Input("threshold %q: it is too large", fault.Brief(text))
	}
	if t.Absolute {
		t.Unit = stored
	}
	return t, nil
}

// In is the threshold in the scale in which a metric is compared: of a ratio a logarithm. level is the location of the base in
// that scale, of which a share or an amount is one.
func (t Threshold) In(scale schema.Scale, level float64) float64 {
	switch byDifference := scale == schema.ScaleDifference; {
	case t.Absolute && byDifference:
		return t.Value
	case t.Absolute:
		return math.Log1p(t.Value / math.Exp(level))
	case byDifference:
		return t.Value * math.Abs(level)
	}
	return math.Log1p(t.Value)
}

// Set has thresholds by metric; that of the empty name is for all others.
type Set map[string]Threshold

// For is the one that counts for a metric: its own, else the general one, if that is of its kind, else that of
// metrics for which none is given.
func (s Set) For(metric string) Threshold {
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
	return Threshold{Value: judge.DefaultThreshold}
}

// Over puts thresholds over others: a share for all metrics also counts before the shares of single ones below.
func (s Set) Over(below Set) Set {
	all := Set{}
	_, general := s[""]
	for metric, t := range below {
		if t.Absolute || !general {
			all[metric] = t
		}
	}
	maps.Copy(all, s)
	return all
}

// ParseSet reads the values of a flag --threshold: thresholds of one metric, METRIC=AMOUNT, or of all, which are shares.
func ParseSet(texts []string) (Set, error) {
	all := Set{}
	for _, text := range texts {
		metric, amount, found := strings.Cut(text, "=")
		if !found {
			metric, amount = "", text
		}
		t, err := Parse(amount)
		switch {
		case err != nil && metric == "":
			return nil, fault.Input("--threshold %q: want a share (5%%), or METRIC=AMOUNT", fault.Brief(text))
		case err != nil:
			return nil, fault.Input("--%v", err)
		case metric == "" && t.Absolute:
			return nil, fault.Input("--threshold %q: without a metric it is a share: 5%%", fault.Brief(text))
		case found && metric == "":
			return nil, fault.Input("--threshold %q: want METRIC=AMOUNT, or a share of all metrics: 5%%", fault.Brief(text))
		case t.Absolute && t.Unit == "" && t.Value != 0 && measuredInUnits(metric):
			return nil, fault.Input("--threshold %q: want a share (%s=5%%), or an amount with its unit", fault.Brief(text), fault.Brief(metric))
		}
		all[metric] = t
	}
	return all, nil
}

// measuredInUnits tells whether a metric is known to have a unit, in which a bare number would be very little.
func measuredInUnits(metric string) bool {
	kind, known := schema.KindOfMetric(metric)
	return known && kind.Scale != schema.ScaleDifference && kind.Unit != "" && kind.Unit != "ratio"
}

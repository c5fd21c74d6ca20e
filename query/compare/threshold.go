package compare

import (
	"math"

	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/schema"
)

// thresholdFact begins the facts of runs that say what their sweep calls no difference, as ThresholdOf reads it; the
// metric follows.
const thresholdFact = "runner.threshold."

// ThresholdOf reads a threshold: a share (5%), or an amount (0.001, 2 ms), which without a unit is one in the stored unit.
// Anything else is an ErrInput, and so is what is below 0 or not finite.
func ThresholdOf(text string) (Threshold, error) {
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

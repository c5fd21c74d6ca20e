package compare

import (
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// EvidenceValue is the value of one side, in one of three forms. The zero value means unknown.
type EvidenceValue struct {
	Texts  []string  // for a fact: its values, ascending
	Number *float64  // for a point, metric, stage or op: in the unit of the row
	Runs   *RunCount // for a warning, status or contrast: number of runs
}

// RunCount is a number of runs out of all.
type RunCount struct{ Runs, Of int }

func (c RunCount) String() string { return fmt.Sprintf("%d of %d", c.Runs, c.Of) }

// number is the value of a finite number.
func number(v float64) EvidenceValue {
	if answer.Real(v) == nil {
		return EvidenceValue{}
	}
	return EvidenceValue{Number: &v}
}

// counted is the value of a number of runs, of so many.
func counted(runs, of int) EvidenceValue { return EvidenceValue{Runs: &RunCount{runs, of}} }

// cell is the value as text. A number is in the stored unit, rounded like answer.Computed.
func (v EvidenceValue) cell() any {
	switch {
	case v.Runs != nil:
		return v.Runs.String()
	case v.Number != nil:
		if short, ok := answer.Computed(*v.Number).(float64); ok {
			return schema.CanonicalFloat(short)
		}
	}
	return answer.Text(strings.Join(v.Texts, ", "))
}

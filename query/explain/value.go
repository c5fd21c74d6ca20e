package explain

import (
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// Value is the value of one side, in one of three forms. The zero value means unknown.
type Value struct {
	Texts  []string // for a fact: its values, ascending
	Number *float64 // for a point, metric, stage or op: in the unit of the row
	Runs   *Counted // for a warning, status or contrast: number of runs
}

// Counted is a number of runs out of all.
type Counted struct{ Runs, Of int }

func (c Counted) String() string { return fmt.Sprintf("%d of %d", c.Runs, c.Of) }

// number is the value of a finite number.
func number(v float64) Value {
	if answer.Real(v) == nil {
		return Value{}
	}
	return Value{Number: &v}
}

// counted is the value of a number of runs, of so many.
func counted(runs, of int) Value { return Value{Runs: &Counted{runs, of}} }

// cell is the value as text. A number is in the stored unit, rounded like answer.Computed.
func (v Value) cell() any {
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

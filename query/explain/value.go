package explain

import (
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// Value is what is known of a side, in one of three ways: the zero value where nothing is.
type Value struct {
	Texts  []string // the values of a fact, ascending
	Number *float64 // of a point, a metric, a stage or an op: in the unit of the row
	Runs   *Counted // of a warning, a status or a contrast
}

// Counted says how many of how many runs have something.
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

// cell is a value as text: a number in the stored unit, of as many digits as computed numbers have.
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

package reporting

import (
	"fmt"
	"math"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/wording"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// times prints a speed-up with three significant digits: 1.54x, 0.700x, 0.00650x, 21,823x. One that is not 1 is never printed as 1
// without decimals that say so.
func times(v *float64) string {
	switch {
	case v == nil:
		return term.Unknown
	case *v >= 999.5:
		return term.Thousands(int(math.Round(*v))) + "x"
	case *v >= .995 && *v < 1:
		return fmt.Sprintf("%.4fx", *v)
	}
	return schema.ForPeople(*v, "") + "x"
}

// changeText prints how a pair differs: its speed-up or, if it is compared by difference, that.
func changeText(p *summary.Pair) string {
	if p.Difference != nil {
		return wording.SignedQuantity(*p.Difference, string(p.Unit))
	}
	return times(p.Speedup)
}

// changeInterval prints the interval of changeText; empty if there is none.
func changeInterval(p *summary.Pair) string {
	switch {
	case p.DifferenceLow != nil && p.DifferenceHigh != nil:
		return wording.SignedQuantity(*p.DifferenceLow, string(p.Unit)) + " … " + wording.SignedQuantity(*p.DifferenceHigh, string(p.Unit))
	case p.Low != nil && p.High != nil:
		return times(p.Low) + " … " + times(p.High)
	}
	return ""
}

// quantity prints a value in a unit that suits it.
func quantity(v *float64, unit summary.Text) string {
	return output.Quantity(answer.Value(v), string(unit))
}

// share prints a ratio in percent.
func share(v *float64) string { return wording.Percent(answer.Value(v)) }

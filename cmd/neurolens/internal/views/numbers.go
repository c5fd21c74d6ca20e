package views

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Signed prints a relative change in percent, the only form in which any screen shows one: +14.7 %, −1.9 %, +140 %, −99.96 %.
func Signed(v float64) string {
	text, _ := strings.CutSuffix(Share(math.Abs(v)), " %")
	if rest := 100 * (1 + v); v < 0 && rest > 0 && rest < 1 { // 1 % and 0.04 % of the base are far apart
		text = strconv.FormatFloat(-100*v, 'f', 1-int(math.Floor(math.Log10(rest))), 64)
	}
	return sign(v, 100*v) + text + " %"
}

// Ends returns the interval of a Change for a sentence: −1.9 % to +4.2 %.
func Ends(low, high float64, scale schema.Scale, unit string) string {
	return Change(low, scale, unit) + " to " + Change(high, scale, unit)
}

// FromTo prints both values of a change and how sure it is: 1.01 ms → 1.12 ms, +11.4 % (+10.7 % to +12.1 %).
func FromTo(base, head, change, interval string) string {
	return base + " → " + head + ", " + WithInterval(change, interval)
}

// WithInterval prints a change with its interval in parentheses, if there is one.
func WithInterval(change, interval string) string {
	if interval == "" {
		return change
	}
	return change + " (" + interval + ")"
}

// Change prints a change as it is compared: a ratio, or a difference in the unit.
func Change(v float64, scale schema.Scale, unit string) string {
	if scale == schema.ScaleDifference {
		return SignedQuantity(v, unit)
	}
	return Signed(v)
}

// Interval returns the interval of a Change for a cell of a table, where percentages need no unit: −1.9 +4.2. Elsewhere it is Ends.
func Interval(low, high float64, scale schema.Scale, unit string) string {
	if scale == schema.ScaleDifference {
		return SignedQuantity(low, unit) + " " + SignedQuantity(high, unit)
	}
	return strings.TrimSuffix(Signed(low), " %") + " " + strings.TrimSuffix(Signed(high), " %")
}

// sign is that of a value, which prints as text with one decimal; none where that is 0.
func sign(v, printed float64) string {
	switch {
	case math.Abs(printed) < .05:
		return ""
	case v < 0:
		return "−"
	}
	return "+"
}

// Share prints a share in percent.
func Share(v float64) string {
	switch percent := 100 * v; {
	case math.Abs(percent) >= math.MaxInt32:
		return fmt.Sprintf("%.3g %%", percent)
	case math.Abs(percent) >= 100:
		return term.Thousands(int(math.Round(percent))) + " %"
	default:
		return fmt.Sprintf("%.1f %%", percent)
	}
}

// SignedQuantity prints a difference in a unit: of shares in percentage points. 0 has no sign.
func SignedQuantity(v float64, unit string) string {
	if unit == "ratio" {
		v, unit = 100*v, "pp"
	}
	switch text := schema.ForPeople(math.Abs(v), unit); {
	case v < 0:
		return "−" + text
	case v > 0:
		return "+" + text
	default:
		return text
	}
}

// Chance prints a p.
func Chance(p float64) string {
	switch {
	case !Finite(p):
		return term.Unknown
	case p < .001:
		return "<.001"
	}
	return strings.TrimPrefix(fmt.Sprintf("%.3f", p), "0")
}

// Finite tells that a number is neither infinite nor none.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Percent prints a ratio in percent; what is no number is not known.
func Percent(v any) string {
	f, ok := v.(float64)
	if !ok {
		return term.Unknown
	}
	return fmt.Sprintf("%.1f %%", 100*f)
}

// SomeOf returns a number of runs, and of how many they are where that is more: 6 of 8.
func SomeOf(some, all int) string {
	if some == 0 || some == all {
		return term.Thousands(all)
	}
	return term.Thousands(some) + " of " + term.Thousands(all)
}

// RunsTimesSamples says how often a point was measured: 5 × 100, or 5 × 41…100; 4 of 5 × 100 if one of the runs has no value.
func RunsTimesSamples(valued, runs int, least, most *int64) string {
	switch {
	case runs == 0 || least == nil || most == nil:
		return term.Unknown
	case *least == *most:
		return fmt.Sprintf("%s × %s", SomeOf(valued, runs), term.Thousands(int(*least)))
	}
	return fmt.Sprintf("%s × %s…%s", SomeOf(valued, runs), term.Thousands(int(*least)), term.Thousands(int(*most)))
}

// rateUnit is the stored unit of what is counted in a second, whatever that is.
const rateUnit = "1/s"

// RateUnit returns the unit in which people are shown values of a metric: the given unit, or the unit that the name of the metric
// suggests if the given one is a rate that does not name what it counts.
func RateUnit(metric, unit string) string {
	if unit != rateUnit {
		return unit
	}
	if metric == "throughput" { // items per second, by the list of metrics
		metric = "item"
	}
	return cmp.Or(schema.RateOf(metric), rateUnit)
}

// QuantityOf prints a value of a metric for people; NULL is unknown.
func QuantityOf(v any, unit, metric string) string { return term.Quantity(v, RateUnit(metric, unit)) }

// UsualPrecision is the precision for which screens say how many runs it needs: with less, a change of the usual threshold is hardly seen.
const UsualPrecision = .02

// PrecisionText says how precise medians are, the worst of several, and how many runs would bring them within UsualPrecision: 0 if they are,
// more than stat.MaxRunsNeeded if it is too many. of says what the medians are of, and each how long a run of all points takes; 0: unknown.
func PrecisionText(of string, worst float64, several bool, needed int, each time.Duration) string {
	text := fmt.Sprintf("precision (95 %% interval of the median over %s): ±%s", of, Share(worst))
	if several {
		text += " at worst"
	}
	switch {
	case needed > stat.MaxRunsNeeded:
		text += fmt.Sprintf("; ±%s needs more than %s runs: measure on a quieter machine, or more work per run", Share(UsualPrecision), term.Thousands(stat.MaxRunsNeeded))
	case needed > 0:
		flag := fmt.Sprintf("--repeats %d", needed)
		if each > 0 {
			flag += ", " + TimeText(time.Duration(needed)*each)
		}
		text += fmt.Sprintf("; ±%s needs about %s per point (%s)", Share(UsualPrecision), term.Count(needed, "run"), flag)
	}
	return text
}

// RunsFor returns the number of runs that UsualPrecision needs, for PrecisionText, and how precise the runs with some locations are. ok is
// false if that is unknown.
func RunsFor(logLocations []float64) (reached float64, needed int, ok bool) {
	if reached, ok = stat.RunsRelError(logLocations); !ok || reached <= UsualPrecision {
		return reached, 0, ok
	}
	if needed = stat.RunsNeeded(logLocations, UsualPrecision); needed == 0 {
		needed = stat.MaxRunsNeeded + 1
	}
	return reached, max(needed, len(logLocations)+1), true
}

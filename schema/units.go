package schema

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// unit is a unit that people write, as a multiple of a stored unit.
type unit struct {
	stored string
	factor float64
}

// units are the spellings that are accepted as input. The stored unit of each dimension has the factor 1.
var units = map[string]unit{
	"ns": {"ns", 1}, "us": {"ns", 1e3}, "µs": {"ns", 1e3}, "μs": {"ns", 1e3}, "ms": {"ns", 1e6}, "s": {"ns", 1e9},
	"min": {"ns", 60e9}, "m": {"ns", 60e9}, "h": {"ns", 3600e9},
	"B": {"B", 1}, "kB": {"B", 1e3}, "MB": {"B", 1e6}, "GB": {"B", 1e9}, "TB": {"B", 1e12},
	"KiB": {"B", 1 << 10}, "MiB": {"B", 1 << 20}, "GiB": {"B", 1 << 30}, "TiB": {"B", 1 << 40},
	"mJ": {"mJ", 1}, "J": {"mJ", 1e3}, "kJ": {"mJ", 1e6}, "MJ": {"mJ", 1e9}, "Wh": {"mJ", 3.6e6}, "kWh": {"mJ", 3.6e9},
	"mW": {"mW", 1}, "W": {"mW", 1e3}, "kW": {"mW", 1e6},
	"MHz": {"MHz", 1}, "GHz": {"MHz", 1e3}, "kHz": {"MHz", 1e-3}, "Hz": {"MHz", 1e-6},
	"Cel": {"Cel", 1}, "°C": {"Cel", 1}, "C": {"Cel", 1},
	"1/s": {"1/s", 1}, "/s": {"1/s", 1}, "k/s": {"1/s", 1e3}, "M/s": {"1/s", 1e6}, "G/s": {"1/s", 1e9},
	"B/s": {"B/s", 1}, "kB/s": {"B/s", 1e3}, "MB/s": {"B/s", 1e6}, "GB/s": {"B/s", 1e9}, "TB/s": {"B/s", 1e12},
	"KiB/s": {"B/s", 1 << 10}, "MiB/s": {"B/s", 1 << 20}, "GiB/s": {"B/s", 1 << 30}, "TiB/s": {"B/s", 1 << 40},
	"flop/s": {"flop/s", 1}, "Mflop/s": {"flop/s", 1e6}, "Gflop/s": {"flop/s", 1e9}, "Tflop/s": {"flop/s", 1e12},
	"ratio": {"ratio", 1}, "%": {"ratio", 0.01},
}

// StoredUnit returns the stored unit for a unit that people write, and the factor between them (ms: ns, 1e6). An unknown
// unit is returned unchanged, with known false.
func StoredUnit(name string) (stored string, factor float64, known bool) {
	u, ok := units[name]
	if !ok {
		return name, 1, false
	}
	return u.stored, u.factor, true
}

// unitSpellings are other common spellings of units, in lower case.
var unitSpellings = map[string]string{
	"nsec": "ns", "nsecs": "ns", "nanosecond": "ns", "nanoseconds": "ns",
	"usec": "us", "usecs": "us", "microsecond": "us", "microseconds": "us",
	"msec": "ms", "msecs": "ms", "millisecond": "ms", "milliseconds": "ms",
	"sec": "s", "secs": "s", "second": "s", "seconds": "s",
	"mins": "min", "minute": "min", "minutes": "min", "hr": "h", "hrs": "h", "hour": "h", "hours": "h",
	"byte": "B", "bytes": "B", "watt": "W", "watts": "W", "joule": "J", "joules": "J", "celsius": "Cel", "percent": "%", "pct": "%",
}

// NearestUnit returns the unit that an unknown one probably means: another spelling of it (usec: us), or one that differs only in case
// (mb: MB). It is empty if no unit matches, or several do.
func NearestUnit(name string) string {
	if _, known := units[name]; known {
		return ""
	}
	if unit, is := unitSpellings[strings.ToLower(name)]; is {
		return unit
	}
	near := ""
	for unit := range units {
		if strings.EqualFold(unit, name) && len(name) > 1 {
			if near != "" {
				return ""
			}
			near = unit
		}
	}
	return near
}

var quantity = regexp.MustCompile(`^([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)(?: *((?:[^0-9. ]|1/).*))?$`)

// Quantity is a number with its unit, both as written. Unit is empty for a bare number. StoredUnit interprets the unit.
type Quantity struct {
	Value float64
	Unit  string
}

// ParseQuantity parses a number with or without a unit (1.5ms, 64 MiB, 80%, 1e3). The unit is the text after the number
// and, except for 1/, does not begin with a digit, a dot or a space. Infinities and NaN are errors. The error for a
// number that is too large wraps strconv.ErrRange.
func ParseQuantity(s string) (Quantity, error) {
	m := quantity.FindStringSubmatch(s)
	if m == nil {
		return Quantity{}, fmt.Errorf("%q is not a number", s)
	}
	value, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return Quantity{}, fmt.Errorf("%q: %w", s, strconv.ErrRange) // the syntax was checked before
	}
	return Quantity{value, m[2]}, nil
}

// printed are the units that values are shown in, largest first, by stored unit.
var printed = map[string][]string{
	"ns":     {"s", "ms", "µs", "ns"},
	"B":      {"TiB", "GiB", "MiB", "KiB", "B"},
	"mJ":     {"kJ", "J", "mJ"},
	"mW":     {"kW", "W", "mW"},
	"MHz":    {"GHz", "MHz"},
	"B/s":    {"TB/s", "GB/s", "MB/s", "kB/s", "B/s"},
	"flop/s": {"Tflop/s", "Gflop/s", "Mflop/s", "flop/s"},
	"1/s":    {"G/s", "M/s", "k/s", "1/s"},
	"ratio":  {"%"},
	"Cel":    {"°C"},
}

// MaxInFull is from where on ForPeople prints numbers with an exponent: a float64 holds no digits of units beyond it.
const MaxInFull = 1e15

// namedRate matches the unit of a rate that says what it counts, such as req/s.
var namedRate = regexp.MustCompile(`^[a-z]+/s$`)

// ForPeople prints a value of a stored unit for people: with three significant digits, in the unit that suits it (1.42
// ms, 3.10 GiB). A rate may say what it counts, as tok/s does (3.12 ktok/s). Other unknown units are printed unchanged.
func ForPeople(value float64, storedUnit string) string {
	if _, known := units[storedUnit]; !known && namedRate.MatchString(storedUnit) {
		digits, name, _ := strings.Cut(ForPeople(value, "1/s"), " ")
		return digits + " " + strings.TrimSuffix(strings.TrimPrefix(name, "1"), "/s") + storedUnit
	}
	name, factor := storedUnit, 1.0
	for _, candidate := range printed[storedUnit] {
		name, factor = candidate, units[candidate].factor
		if math.Abs(roundTo3(value/factor)) >= 1 {
			break
		}
	}
	if value == 0 && storedUnit == "ratio" {
		name = ""
	}
	digits := threeDigits(value / factor)
	if name == "B" && value == math.Trunc(value) && math.Abs(value) < MaxInFull { // whole bytes
		digits = strconv.FormatFloat(value, 'f', 0, 64)
	}
	if name == "" {
		return digits
	}
	return digits + " " + name
}

// threeDigits prints three significant digits. Integers with more digits are printed in full up to MaxInFull.
func threeDigits(v float64) string {
	switch a := math.Abs(roundTo3(v)); {
	case v == 0 || math.IsNaN(v) || math.IsInf(v, 0):
		return strconv.FormatFloat(v, 'g', -1, 64)
	case a >= MaxInFull:
		return strconv.FormatFloat(v, 'e', 2, 64)
	case a >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	default:
		return fmt.Sprintf("%#.3g", v) // with the zeros at the end, as above
	}
}

// roundTo3 rounds to three significant digits, so that 999.9 µs is printed as 1 ms and not as 1000 µs.
func roundTo3(v float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 2, 64), 64)
	if err != nil {
		return v
	}
	return rounded
}

// ParseBytes reads a size: a number of bytes, or one with a unit (512MiB).
func ParseBytes(text string) (int64, error) {
	q, err := ParseQuantity(text)
	if err != nil {
		return 0, err
	}
	stored, factor := "B", 1.0
	if q.Unit != "" {
		stored, factor, _ = StoredUnit(q.Unit)
	}
	bytes := q.Value * factor
	if stored != "B" || !(bytes >= 1 && bytes < 1<<62) {
		return 0, errors.New("want a size such as 512MiB")
	}
	return int64(bytes), nil
}

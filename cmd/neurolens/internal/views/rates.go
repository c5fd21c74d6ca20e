package views

import (
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// rateUnit is the stored unit of what is counted in a second, whatever that is.
const rateUnit = "1/s"

// A rate says what is counted by the unit that a file has it in, or by the name of its metric.
var (
	givenRate = regexp.MustCompile(`^([a-z]+) ?(?:/|per )s(?:ec|econd)?\b`)
	rateWords = []struct{ in, short string }{
		{"token", "tok"}, {"request", "req"}, {"sample", "sample"}, {"image", "image"}, {"quer", "query"}, {"operation", "op"}, {"ops", "op"}, {"item", "item"},
	}
)

// countedBy is what a rate counts, in short; empty where nobody says it.
func countedBy(metric, given string) string {
	word := metric
	if m := givenRate.FindStringSubmatch(given); m != nil {
		word = m[1]
	}
	for _, w := range rateWords {
		if strings.Contains(word, w.in) {
			return w.short
		}
	}
	switch {
	case word != metric && word != "per":
		return word
	case metric == "throughput": // items per second, by the list of metrics
		return "item"
	}
	return ""
}

// QuantityOf prints a value of a metric for people; NULL is unknown. given is the unit that its file has it in; empty where that is
// not known.
func QuantityOf(v any, unit, metric, given string) string {
	text := term.Quantity(v, unit)
	if unit != rateUnit || text == term.Unknown {
		return text
	}
	number, name, _ := strings.Cut(text, " ")
	return number + " " + strings.TrimPrefix(strings.TrimSuffix(name, "/s"), "1") + countedBy(metric, given) + "/s"
}

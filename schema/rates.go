package schema

import (
	"strings"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// givenRate matches the unit of a rate as a file has it: tokens/sec, requests per second.
var givenRate = regexp.MustCompile(`^([a-z]+) ?(?:/|per )s(?:ec|econd)?\b`)

// countedWords are what rates count: a part of the word in a unit or in the name of a metric, and how it is shown.
var countedWords = []struct{ in, short string }{
	{"token", "tok"}, {"request", "req"}, {"sample", "samples"}, {"image", "images"}, {"quer", "queries"}, {"operation", "op"}, {"ops", "op"}, {"item", "items"},
}

// RateOf returns the unit of a rate that a text names, in short: tok/s for tokens/sec, and for the metric output_token_throughput. It is
// empty if the text does not say what is counted.
func RateOf(text string) string {
	unit := givenRate.FindStringSubmatch(text)
	if unit != nil {
		text = unit[1]
	}
	for _, w := range countedWords {
		if strings.Contains(text, w.in) {
			return w.short + "/s"
		}
	}
	if unit == nil || text == "per" {
		return ""
	}
	return text + "/s"
}

package judge_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

var update = flag.Bool("update", false, "write the table in VALIDATION.md anew")

// torture reports whether all sweeps are drawn, which takes 20 minutes of a processor.
func torture() bool { return os.Getenv("NEUROLENS_LONG") == "all" }

// promise is a limit, in percent, for a rule on a data set.
type promise struct {
	rule    string
	measure string
	limit   float64
	least   bool // is a limit from below
}

// kept reports whether a promise is kept. With fewer sweeps than it is made for, it may be missed by 4 standard deviations.
func (p promise) kept(value float64, sweeps, of int) bool {
	slack := 0.
	if sweeps < of {
		share := p.limit / 100
		slack = 400 * math.Sqrt(share*(1-share)/float64(sweeps))
	}
	if p.least {
		return value >= p.limit-slack
	}
	return value <= p.limit+slack
}

// validation is a data set with its promises.
type validation struct {
	dataSet
	promises []promise
}

// atMost returns promises that measures of whole comparisons do not exceed a limit.
func atMost(limit float64, measures ...string) (promises []promise) {
	for _, measure := range measures {
		for _, rule := range []string{"compare", "`--strict`", "`--gate`"} {
			promises = append(promises, promise{rule: rule, measure: measure, limit: limit})
		}
	}
	return promises
}

// validations returns the data sets that this project has or generates.
func validations(t *testing.T) []validation {
	own := ownPool(t)
	with := func(m model, change func(m *model)) func(random *rand.Rand) []point {
		change(&m)
		return m.draw
	}
	apart := func(past int) func(m *model) {
		return func(m *model) { m.session, m.past = .02, past }
	}
	together := func(m *model) { m.session, m.past, m.together = .02, 8, true }
	never := atMost(5, "points", "comparisons", "FDR")
	suite := append(atMost(5, "points", "comparisons", "FDR"), promise{"compare", "found", 80, true})
	points := append(atMost(5, "points"), promise{"one point", "points", 5, false})
	return []validation{
		{dataSet{"own, 5 runs", 1000, 100, split(own, 5)}, never},
		{dataSet{"own, 10 runs", 1000, 100, split(own, 10)}, never},
		{dataSet{"own, 10 blocks", 1000, 100, neighbours(own)}, never},
		{dataSet{"suite, 5 runs", 2000, 100, oneSuite(5).draw}, suite},
		{dataSet{"suite, two modes", 2000, 100, with(oneSuite(5), func(m *model) { m.twoModes = true })}, atMost(5, "points", "FDR")},
		{dataSet{"drift, 10 runs after 10", 300, 100, with(steady(10), func(m *model) { m.drift = .03 })}, never},
		{dataSet{"drift, 10 blocks", 300, 100, with(steady(10), func(m *model) { m.drift, m.interleaved = .03, true })}, never},
		{dataSet{"sessions, 8 before, 5 runs", 600, 100, with(steady(5), apart(8))}, points},
		{dataSet{"sessions, 8 before, 10 runs", 400, 100, with(steady(10), apart(8))}, points},
		{dataSet{"sessions, 7 before, 5 runs", 600, 100, with(steady(5), apart(7))}, points},
		{dataSet{"sessions, all points alike", 500, 100, with(steady(5), together)}, points},
		{dataSet{"sessions, 1 before, 5 runs", 100, 100, with(steady(5), apart(1))}, atMost(0, "points", "found")},
	}
}

// javaValidation returns the pool of Java benchmarks.
func javaValidation(t *testing.T) validation {
	promises := append(atMost(5, "points", "comparisons", "FDR"), promise{"compare", "found", 55, true}, promise{"one point", "points", 2.2, false},
		promise{"one point, strict", "points", .3, false})
	return validation{dataSet{"Java, 5 runs", 1000, 100, split(jmhPool(t), 5)}, promises}
}

// TestValidation measures how often the rules of this package, and those of other tools, call unchanged points changed,
// and how many real changes they find, and prints a table. VALIDATION.md explains the measures and has the table,
// which is compared with NEUROLENS_LONG=all; otherwise some of the sweeps are drawn and have to keep the promises within chance.
func TestValidation(t *testing.T) {
	t.Parallel()
	table := tableHead()
	complete := false
	t.Run("Java", func(t *testing.T) {
		v := javaValidation(t)
		table = append(table, v.measure(t)...)
		complete = true
	})
	for _, v := range validations(t) {
		t.Run(v.name, func(t *testing.T) { table = append(table, v.measure(t)...) })
	}
	t.Log("\n" + strings.Join(table, "\n"))
	switch {
	case !*update:
	case !complete || !torture():
		t.Error("the table is written with all data and all sweeps alone: NEUROLENS_LONG=all")
	default:
		writeTable(t, "| data |", table)
	}
}

// measure returns the lines of the table, and checks the promises and that VALIDATION.md has the lines.
func (v *validation) measure(t *testing.T) []string {
	of := v.sweeps
	if !torture() {
		v.sweeps, v.peers = v.sweeps/40, v.peers/40
	}
	tallies := v.tallies()
	for _, p := range v.promises {
		for _, m := range measures {
			if value := m.of(tallyOf(t, tallies, p.rule)); m.name == p.measure && !p.kept(value, v.sweeps, of) {
				t.Errorf("%s, %s: %.2f %%, the limit is %g %%", p.rule, p.measure, value, p.limit)
			}
		}
	}
	lines := v.tableRows(tallies)
	// Elsewhere products and sums are rounded together, and a verdict in a million is another one.
	if v.sweeps == of && runtime.GOARCH == "amd64" && !*update {
		hasTable(t, lines)
	}
	return lines
}

// hasTable checks that VALIDATION.md has these lines.
func hasTable(t *testing.T, lines []string) {
	t.Helper()
	text := valuetest.Must(os.ReadFile("VALIDATION.md"))
	valuetest.Contains(t, string(text), strings.Join(lines, "\n"), "VALIDATION.md has other numbers (-update writes them")
}

// page is held by who writes VALIDATION.md.
var page sync.Mutex

// writeTable replaces the table in VALIDATION.md that begins so.
func writeTable(t *testing.T, head string, table []string) {
	t.Helper()
	page.Lock()
	defer page.Unlock()
	text := valuetest.Must(os.ReadFile("VALIDATION.md"))
	from := strings.Index(string(text), head)
	if from < 0 {
		t.Fatalf("VALIDATION.md has no table that begins with %s", head)
	}
	rest := string(text)[from:]
	if end := strings.Index(rest, "\n\n"); end >= 0 {
		rest = rest[end:]
	} else {
		rest = "\n"
	}
	anew := string(text)[:from] + strings.Join(table, "\n") + rest
	valuetest.OK(t, os.WriteFile("VALIDATION.md", []byte(anew), 0o644))
}

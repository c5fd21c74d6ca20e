package judge_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestDecisions compares the decisions about data drawn with fixed seeds with a golden file. A decision that differs is a changed rule, and
// VALIDATION.md has to be drawn again.
func TestDecisions(t *testing.T) {
	t.Parallel()
	const shown = 12 // points of each data set; the family is whole
	var b strings.Builder
	for _, v := range validations(t) {
		seed := fnv.New64a()
		seed.Write([]byte(v.name))
		random := rand.New(rand.NewPCG(seed.Sum64(), 0))
		sweep := v.draw(random)
		inject(random, sweep)
		family := make([]judge.Pair, len(sweep))
		for i := range sweep {
			family[i] = sweep[i].pair()
		}
		for _, rules := range []judge.Rules{{}, {Gate: true}} {
			fmt.Fprintf(&b, "%s, gate %t\n", v.name, rules.Gate)
			for i, o := range judge.Judge([][]judge.Pair{family}, rules)[0].Outcomes[:min(shown, len(family))] {
				words := strings.TrimSpace(fmt.Sprintf("%s %s", o.Verdict, o.Reason))
				fmt.Fprintf(&b, "  %2d  x%.2f  %s %s  %+.4f [%+.4f %+.4f]  p %.3g, adjusted %.3g  noise %.4f  %s\n",
					i, sweep[i].factor, o.Method, o.Rule, o.Change.Value, o.Change.Low, o.Change.High, o.P, o.Adjusted, o.Noise, words)
			}
		}
	}
	golden := filepath.Join("testdata", "decisions.txt")
	if *update {
		valuetest.OK(t, os.WriteFile(golden, []byte(b.String()), 0o666))
		return
	}
	want := valuetest.Must(os.ReadFile(golden))
	got, wants := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	valuetest.Equal(t, len(got), len(wants))
	data := ""
	for i := range got {
		if !strings.HasPrefix(got[i], " ") {
			data = got[i]
		}
		valuetest.Equal(t, got[i], wants[i], data)
	}
}

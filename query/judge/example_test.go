package judge_test

import (
	"fmt"
	"math"

	"github.com/neurolens/neurolens/query/judge"
)

// A point of 5 runs a side, which ran by turns: numbers are logarithms of what was measured.
func ExampleJudge() {
	pair := judge.Pair{Lower: true, Margin: math.Log(1.02)}
	for i, base := range []float64{10.1, 10, 10.2, 9.9, 10} { // milliseconds
		head := []float64{11.1, 11, 11.3, 10.9, 11}[i]
		pair.Base, pair.Head = append(pair.Base, math.Log(base)), append(pair.Head, math.Log(head))
		pair.Blocks = append(pair.Blocks, math.Log(head/base))
	}
	o := judge.Judge([][]judge.Pair{{pair}}, judge.Rules{})[0].Outcomes[0]
	fmt.Printf("%s: %+.0f %% (%+.0f %+.0f), by %s\n",
		o.Verdict, 100*math.Expm1(o.Change.Value), 100*math.Expm1(o.Change.Low), 100*math.Expm1(o.Change.High), o.Method)
	// Output: regressed: +10 % (+8 +13), by runs
}

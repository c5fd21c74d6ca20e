package report

import "testing"

// TestTwoSides: two arguments that no run can match both are base and head, as for compare; --against names the base of any head.
func TestTwoSides(t *testing.T) {
	for _, test := range []struct {
		asked      Options
		words      []string
		base, head string
		err        string
	}{
		{words: []string{"session=last~1", "session=last"}, base: "session=last~1", head: "session=last"},
		{words: []string{"backend=torch or dim=1", "backend=cpu"}, head: "(backend=torch or dim=1) backend=cpu"},
		{words: []string{"session=last", "session=last"}, head: "session=last session=last"},
		{words: []string{"session=A", "or", "session=B"}, head: "session=A or session=B"},
		{asked: Options{Against: "baseline=main"}, base: "baseline=main"},
		{asked: Options{Against: "a=1 or b=2"}, words: []string{"dim=64"}, base: "(a=1 or b=2)", head: "dim=64"},
		{asked: Options{Against: "baseline=main", Baseline: "backend=cpu"}, err: "report: --baseline backend=cpu and two selections: want one of them"},
		{asked: Options{Against: "baseline=main", All: true}, err: "report: --all is one selection: want a filter for each side"},
	} {
		req, err := test.asked.Request(test.words)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != test.err || err == nil && (req.Base != test.base || req.Filter != test.head) {
			t.Errorf("%q: got %s against %s, %s", test.words, req.Filter, req.Base, got)
		}
	}
}

package bisect

import "testing"

// TestBudget: the shares of all steps are no more than the whole, however many there are.
func TestBudget(t *testing.T) {
	t.Parallel()
	for expected := 1; expected < 20; expected++ {
		sum := 0.
		for step := range 60 {
			sum += budget{expected: expected, spent: step}.next()
		}
		if sum > wrongCommit*(1+1e-12) || sum < .0499 {
			t.Errorf("%d steps expected: %v", expected, sum)
		}
	}
}

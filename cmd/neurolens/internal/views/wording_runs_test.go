package views

import "testing"

func TestRunsTimesSamples(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		valued, runs int
		least, most  *int64
		want         string
	}{
		{5, 5, new(int64(100)), new(int64(100)), "5 × 100"},
		{5, 5, new(int64(41)), new(int64(100)), "5 × 41…100"},
		{4, 5, new(int64(1)), new(int64(1)), "4 of 5 × 1"},
		{0, 5, new(int64(1)), new(int64(2)), "5 × 1…2"},
		{0, 0, new(int64(1)), new(int64(1)), "–"},
		{0, 5, nil, nil, "–"},
	} {
		if got := RunsTimesSamples(test.valued, test.runs, test.least, test.most); got != test.want {
			t.Errorf("%d of %d runs: %q, want %q", test.valued, test.runs, got, test.want)
		}
	}
}

package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestSpikes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		level []float64
		want  []Spike
	}{
		{"one", []float64{10, 11, 10, 40, 9, 10, 10}, []Spike{{3, 30}}},
		{"below", []float64{10, 11, 10, -40, 9, 10, 10}, []Spike{{3, -50}}},
		{"two in a row and another", []float64{10, 11, 40, 41, 10, 9, 11, 50, 10, 9, 10}, []Spike{{2, 30}, {3, 31}, {7, 40}}},
		{"two in a row, and one on the other side", []float64{10, 11, 40, 41, -20, 10, 9, 11, 10, 9, 10}, []Spike{{2, 30}, {3, 31}, {4, -30}}},
		{"below, before one above with which a change may begin", []float64{10, 11, 10, 9, 11, 10, -20, 40}, []Spike{{6, -30}}},
		{"three in a row", []float64{10, 11, 10, 9, 40, 41, 42, 10, 11, 10}, nil},
		{"at the end, where a change may begin", []float64{10, 11, 10, 9, 11, 10, 40}, nil},
		{"at the beginning", []float64{40, 11, 10, 9, 11, 10, 10}, nil},
		{"of equal values", []float64{3, 3, 3, 3, 4, 3, 3, 3}, []Spike{{4, 1}}},
		{"nearly half are off", []float64{3, 3, 3, 4, 4, 3, 4, 3}, nil},
		{"smaller than what counts", []float64{3, 3, 3, 3.4, 3, 3}, nil},
		{"nothing is off", []float64{3, 3, 3, 3, 3, 3}, nil},
		{"few values", []float64{3, 30, 3, 3}, nil},
		{"infinite", []float64{3, 3, math.Inf(1), 3, 3, 3}, nil},
	} {
		got := Spikes(c.level, within(.5))
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
			continue
		}
		for i, w := range c.want {
			valuetest.Equal(t, got[i], w, c.name, got, c.want)
		}
	}
}

// TestProminences: a value is measured by the most distant other one, or by the margin; the newest ones by those before them.
func TestProminences(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		level  []float64
		newest int
		want   []float64
	}{
		{[]float64{10, 12, 9, 10, 16}, 1, []float64{0, 1. / 3, -1. / 6, 0, 3}},
		{[]float64{10, 12, 9, 10, 10, 16, 14}, 2, []float64{0, 1. / 3, -1. / 6, 0, 0, 3, 2}},
		{[]float64{10, 6, 10, 12, 10}, 0, []float64{0, -2, 0, .5, 0}},
		{[]float64{10, 10, 10, 10, 14}, 1, []float64{0, 0, 0, 0, 8}},
	} {
		for i, v := range Prominences(c.level, c.newest, within(.5)) {
			valuetest.Near(t, v, c.want[i], 1e-12, c.level, i)
		}
	}
	for _, v := range Prominences([]float64{3, 3, 3}, 1, within(0)) {
		valuetest.Equal(t, v, 0., "equal values without a margin")
	}
}

// TestDeparture: values at the end that are far off are no spikes yet, and are counted instead.
func TestDeparture(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		level  []float64
		values int
		by     float64
	}{
		{[]float64{10, 11, 10, 9, 11, 10, 40}, 1, 30},
		{[]float64{10, 11, 10, 9, 11, 10, -40, -30}, 2, -40},
		{[]float64{10, 11, 10, 9, 11, 10, -20, 40}, 1, 30},
		{nil, 0, 0},
		{[]float64{10, 11, 10, 40, 11, 10, 9}, 0, 0},
		{[]float64{3, 3, 3, 3, 3, 3.4}, 0, 0},
		{[]float64{3, 3, 3, 30}, 0, 0},
	} {
		values, by := Departure(c.level, within(.5))
		valuetest.Equal(t, values, c.values, c.level)
		valuetest.Equal(t, by, c.by, c.level)
	}
}

// TestSpikesOfNormalValues: a hundred normal values have hardly ever one.
func TestSpikesOfNormalValues(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 1))
	for _, n := range []int{8, 30, 100} {
		found := 0
		for range 1000 {
			if len(Spikes(autoregressive(random, n, 0), within(0))) > 0 {
				found++
			}
		}
		if found > 100 {
			t.Errorf("%d values: %d of 1000 series have a spike", n, found)
		}
	}
}

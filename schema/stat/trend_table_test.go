package stat

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// nullTables are the tables of the sizes of normal values without a change, with what is measured of a series.
var nullTables = []struct {
	name  string
	rows  []nullSizes
	size  func(series []float64) float64
	tried []int // numbers of values, also between the rows
}{
	{"one step", trendSizes, func(series []float64) float64 {
		shift := shiftIn(series)
		return shift.size / shift.inflation
	}, []int{6, 8, 9, 13, 19, 28, 45, 90}},
	{"two steps", twiceSizes, func(series []float64) float64 {
		if both := newShifts(series).twice(0); both != nil {
			return both.size
		}
		return 0
	}, []int{12, 13, 15, 19, 28, 45, 90}},
}

// drawnNull returns the sizes of n normal values without a change, ascending, of which neighbours are correlated by rho.
func drawnNull(size func([]float64) float64, n int, rho float64, draws int) []float64 {
	random := rand.New(rand.NewPCG(uint64(100*rho), uint64(n)))
	sizes := make([]float64, draws)
	for d := range sizes {
		sizes[d] = size(autoregressive(random, n, rho))
	}
	slices.Sort(sizes)
	return sizes
}

// reached returns the size that, counted with the series itself, so large a share of draws reaches: in the middle between those
// that do and those that do not.
func reached(sizes []float64, share float64) float64 {
	at := len(sizes) + 1 - int(math.Round(share*float64(len(sizes)+1))) // the first of as many as may reach it
	return (sizes[at-1] + sizes[at]) / 2
}

// drawnSizes returns a row of a table: of each chance the largest size among correlations.
func drawnSizes(size func([]float64) float64, n, draws int) (sizes [len(trendLevels)]float64) {
	for _, rho := range []float64{0, .3, .6} {
		drawn := drawnNull(size, n, rho, draws)
		for i, p := range trendLevels {
			sizes[i] = max(sizes[i], reached(drawn, p))
		}
	}
	return sizes
}

// TestTrendSizes draws the tables again: with NEUROLENS_LONG=all as often as they were drawn, which takes some minutes, and otherwise
// less often, to see that the shares are right, also where the tables are interpolated.
func TestTrendSizes(t *testing.T) {
	t.Parallel()
	for _, table := range nullTables {
		if os.Getenv("NEUROLENS_LONG") == "all" {
			for _, row := range table.rows {
				drawn := drawnSizes(table.size, row.n, trendDraws)
				for i, p := range trendLevels {
					valuetest.Near(t, row.sizes[i], drawn[i], 1e-4*drawn[i], table.name, row.n, "values", p)
				}
			}
			continue
		}
		for _, n := range table.tried {
			checkShares(t, table.name, table.rows, table.size, n, 1000)
		}
		checkShares(t, table.name, table.rows, table.size, 600, 100)
	}
}

// checkShares draws values and asks that not more are changed by the table's sizes than should, and about as many with that
// correlation which has most.
func checkShares(t *testing.T, name string, rows []nullSizes, size func([]float64) float64, n, draws int) {
	t.Helper()
	null := newNullSize(rows, n)
	shares := map[float64]float64{}
	for _, rho := range []float64{0, .3, .6} {
		sizes := drawnNull(size, n, rho, draws)
		for _, p := range []float64{.2, .1, .05, .01} {
			share := 0.
			for _, size := range sizes {
				if null.logP(size) <= math.Log(p) {
					share += 1 / float64(draws)
				}
			}
			shares[p] = max(shares[p], share)
		}
	}
	for p, share := range shares {
		slack := 4 * math.Sqrt(p*(1-p)/float64(draws))
		if share > p+slack || share < .8*p-slack {
			t.Errorf("%s: of %d values without a change %.2f %% have a size that %g %% should", name, n, 100*share, 100*p)
		}
	}
}

// TestNullSizeIsOneCurve: the chance falls as the size grows, through the values of the tables and beyond them.
func TestNullSizeIsOneCurve(t *testing.T) {
	t.Parallel()
	for _, table := range nullTables {
		for _, row := range table.rows {
			null := newNullSize(table.rows, row.n)
			for i, p := range trendLevels {
				valuetest.Near(t, math.Exp(null.logP(row.sizes[i]))/p, 1, 1e-9, table.name, row.n, "values: the chance of the size of", p)
			}
			valuetest.Equal(t, math.Exp(null.logP(0)), 1, table.name, row.n, "values: no change has the chance")
			last := 0.
			for size := row.sizes[0]; size < 1e6; size *= 1.1 {
				p := null.logP(size)
				if !(p < last) {
					t.Fatalf("%s, %d values: the logarithm of the chance of %g is %g, of less %g", table.name, row.n, size, p, last)
				}
				valuetest.Near(t, null.size(p)/size, 1, 1e-12, table.name, row.n, "values: the size", size, "has the logarithm of the chance", p, "which")
				last = p
			}
		}
	}
}

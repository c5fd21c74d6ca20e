package stat

import (
	"math"
	"math/rand/v2"
)

// iid returns n independent samples, each made of a standard normal number.
func iid(random *rand.Rand, n int, of func(z float64) float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = of(random.NormFloat64())
	}
	return values
}

// autoregressive returns n samples of a process of which neighbours are correlated by phi, with mean 0 and variance 1.
func autoregressive(random *rand.Rand, n int, phi float64) []float64 {
	last := random.NormFloat64()
	return iid(random, n, func(z float64) float64 {
		last = phi*last + math.Sqrt(1-phi*phi)*z
		return last
	})
}

func identity(x float64) float64 { return x }

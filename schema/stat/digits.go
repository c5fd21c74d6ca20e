package stat

import (
	"math"
	"math/bits"
)

// digitBits is the size of a digit by which values are sorted, and digitValues the number of its values.
const (
	digitBits   = 8
	digitValues = 1 << digitBits
)

// keys give finite values as whole numbers in the same order: above the least value, and without the last bits that are 0 in all of them.
// Those of a clock have few bits, because its times are whole numbers of ticks and near one another.
type keys struct {
	least uint64 // ordinal of the least value
	zeros int    // last bits that are left out
	bits  int    // that the keys have
}

// keysOf returns the keys of values. ok is false if one is NaN, or the -0, whose order beside 0 is a matter of how values are sorted.
func keysOf(values []float64) (k keys, ok bool) {
	k.least = math.MaxUint64
	for _, v := range values {
		if v != v || math.Float64bits(v) == 1<<63 {
			return keys{}, false
		}
		k.least = min(k.least, ordinal(v))
	}
	var differ uint64
	for _, v := range values {
		differ |= ordinal(v) - k.least
	}
	if differ != 0 {
		k.zeros = bits.TrailingZeros64(differ)
		k.bits = bits.Len64(differ >> k.zeros)
	}
	return k, true
}

func (k keys) of(v float64) uint64 { return (ordinal(v) - k.least) >> k.zeros }

// fewDigits reports whether n values are sorted by the digits of their keys in less time than by comparing them. A comparison takes about
// as long as two steps of a digit, because a processor mispredicts half of the branches.
func (k keys) fewDigits(n int) bool {
	passes := (k.bits + digitBits - 1) / digitBits
	return passes*(n+digitValues) < 2*n*bits.Len(uint(n))
}

// sort sorts values by their keys, digit by digit from the last on (Knuth, The Art of Computer Programming 3, 1998, 5.2.5, algorithm R).
// The result is in other memory if the number of digits is odd.
func (k keys) sort(values []float64) []float64 {
	other := make([]float64, len(values))
	for shift := 0; shift < k.bits; shift += digitBits {
		var next [digitValues]int32 // place of the next value with each digit
		for _, v := range values {
			next[byte(k.of(v)>>shift)]++
		}
		var sum int32
		for digit, n := range next {
			next[digit] = sum
			sum += n
		}
		for _, v := range values {
			digit := byte(k.of(v) >> shift)
			other[next[digit]] = v
			next[digit]++
		}
		values, other = other, values
	}
	return values
}

package stat

import (
	"math"
	"math/bits"
)

// The radix sort handles digitBits bits at a time, so a digit has digitValues values.
const (
	digitBits   = 8
	digitValues = 1 << digitBits
)

// keys map finite values to whole numbers in the same order: offsets from the least value, without the trailing bits that are 0 in all
// of them. Samples of a clock have short keys, because they are whole numbers of ticks and near one another.
type keys struct {
	least uint64 // ordinal of the least value
	zeros int    // last bits that are left out
	bits  int    // that the keys have
}

// keysOf returns the keys of values. ok is false if a value is NaN or -0, whose order relative to 0 depends on the sorting algorithm.
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

// fewDigits reports whether radix sort of n values by their keys takes less time than comparisons. A comparison takes about as long as
// two steps of a digit, because a processor mispredicts half of the branches.
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

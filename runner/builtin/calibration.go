package builtin

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// CalibrationKey is the key of a configuration for one of Calibrations. No other key is allowed with it.
const CalibrationKey = "calibration"

// The launch settings of a calibration kernel, whatever the settings of the sweep: 100 samples of 0.1 to 0.3 ms each, so that a run
// measures for 15 to 30 ms and few samples are hit by an interruption.
const (
	CalibrationWarmup     = 10
	CalibrationIterations = 100
)

// Sizes of the kernels. They are part of the meaning of a name: to change one, add a kernel of a new version.
const (
	integerSteps = 1 << 17 // about 1.5 ns each: a multiplication, an addition, a shift, an exclusive or

	// A core reaches 16 to 112 MiB of last-level cache on most machines of today. The buffer is larger than that, and
	// still small enough for a machine of 1 GiB. Each iteration reads the next slice, so that a line is read again only
	// after all others.
	memorySlices     = 16
	memorySliceWords = 8 << 20 / 8 // 8 MiB each, 128 MiB in all
	lineWords        = 64 / 8      // one word of each cache line is read

	// A branch predictor learns a stream that repeats: a processor of 2024 learned all of 2^14 branches, and none of 2^18. The stream
	// repeats after 2^19.
	branchSteps  = 1 << 15
	branchDecide = 1 << 40 // the bit of the generator that decides
)

// calibration is a kernel of fixed work, with which sessions and machines are compared. Iterations run its parts in turn; all parts are
// equal work.
type calibration struct {
	name    string // ends in its version
	prepare func() func(part int) uint64
	golden  []uint64 // the result of each part
	bytes   int64    // read by an iteration; 0: none beyond registers
	items   float64  // steps of an iteration
}

// calibrations are the kernels. A version that was released never changes.
var calibrations = []calibration{
	{
		name: "integer-v1", prepare: func() func(int) uint64 { return integerChain },
		golden: []uint64{0x7ddcd89d2c3dd40e}, items: integerSteps,
	},
	{
		name: "memory-v1", prepare: prepareMemory,
		golden: []uint64{
			0xb13522b1ae4d03ec, 0x86d4b8c1948f06a5, 0x0e9580af4eed071b, 0xd9a0ae90f8ec1d07,
			0x39d553760caba554, 0x6d76518cfa973afd, 0x71d196cd30331a8d, 0x7a92e87910e3ddac,
			0x532d97a048b07812, 0xf07f049928208ce2, 0x203776184796a2d8, 0xba8d0166d6e818ec,
			0x0cab0dbe795f15bf, 0x537c1281a1957136, 0x1843d786b990b583, 0x560e7f37ac1db4f9,
		},
		bytes: 8 * memorySliceWords, items: memorySliceWords / lineWords,
	},
	{
		name: "branch-v1", prepare: func() func(int) uint64 { return branches },
		golden: []uint64{
			0x300f860f6819619d, 0xf5ddc6170217ecde, 0xc4e7a3020b7eeb49, 0xc054e789882dfb04,
			0x4667fae2037afae5, 0x4ba389e51dab940d, 0xf2e5d1b5ca58c94f, 0x1989526522fbb2e5,
			0x8b39f7df0939055d, 0x87bfddfa55048485, 0xa13adc6c2bf8d8d3, 0x5c91c95bec1d51a7,
			0xe2e161c8389ccaea, 0x48ebfd44b1ed8802, 0xc485bd0e7ea50fdf, 0x1c59cd72d9c34dc9,
		},
		items: branchSteps,
	},
}

// Calibrations lists the names of the kernels of fixed work. Each name ends in a version: the work of a name never changes.
func Calibrations() []string {
	var all []string
	for _, c := range calibrations {
		all = append(all, c.name)
	}
	return all
}

// findCalibration finds the kernel in config. Its work is fixed, so no other keys are allowed.
func findCalibration(config map[string]string) (calibration, error) {
	name := config[CalibrationKey]
	at := slices.Index(Calibrations(), name)
	switch {
	case at < 0:
		return calibration{}, &UnsupportedError{
			kindOperation, fmt.Sprintf("builtin has no calibration %q; it has %s", name, strings.Join(Calibrations(), " ")),
		}
	case len(config) > 1:
		return calibration{}, &UnsupportedError{
			kindNotApplied, fmt.Sprintf("calibration %s has no parameters: its work is fixed", name),
		}
	}
	return calibrations[at], nil
}

// operation prepares a kernel. Its Validate fails once a result differs from the known one.
func (c calibration) operation() *Operation {
	kernel, part := c.prepare(), 0
	var wrong error
	return &Operation{
		Iterate: func() {
			want := c.golden[part]
			if got := kernel(part); got != want && wrong == nil {
				wrong = fmt.Errorf("calibration %s: part %d gives %#x, want %#x", c.name, part, got, want)
			}
			part = (part + 1) % len(c.golden)
		},
		Validate: func() error { return wrong },
		Applied:  map[string]string{CalibrationKey: c.name},
		Work:     c.work(),
	}
}

// work returns the work of one iteration.
func (c calibration) work() schema.Work {
	work := schema.Work{Items: &c.items}
	if c.bytes > 0 {
		work.Bytes = &c.bytes
	}
	return work
}

// integerChain returns a chain of integer operations, each of which needs the result of the one before: a linear
// congruential generator with the constants of MMIX (Knuth, The Art of Computer Programming 2, 3.3.4), and an
// exclusive or with a shift, so that no step can be combined with the next.
//
//go:noinline
func integerChain(int) uint64 {
	x := uint64(1)
	for range integerSteps {
		x = x*6364136223846793005 + 1442695040888963407
		x ^= x >> 29
	}
	return x
}

// prepareMemory fills the buffer. Every page of it is written, so that an iteration causes no page fault.
func prepareMemory() func(part int) uint64 {
	buffer := make([]uint64, memorySlices*memorySliceWords)
	for i := 0; i < len(buffer); i += lineWords {
		buffer[i] = spread(uint64(i))
	}
	return func(part int) uint64 {
		return sumLines(buffer[part*memorySliceWords : (part+1)*memorySliceWords])
	}
}

// sumLines adds one word of each cache line.
//
//go:noinline
func sumLines(words []uint64) uint64 {
	var sum uint64
	for i := 0; i < len(words); i += lineWords {
		sum += words[i]
	}
	return sum
}

// branches takes one of two ways at each step, as one bit of a xorshift generator says (Marsaglia 2003, the triple 13, 7,
// 17). Each way does what a conditional move cannot stand for.
//
//go:noinline
func branches(part int) uint64 {
	x, a, b := spread(uint64(part)), uint64(0), uint64(0)
	for range branchSteps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		if x&branchDecide != 0 {
			a = bits.RotateLeft64(a, 5) + x
			b ^= a >> 3
		} else {
			b = bits.RotateLeft64(b, 7) ^ x
			a += b >> 5
		}
	}
	return a ^ b
}

// spread makes a number that is not 0 of a small one: the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
func spread(n uint64) uint64 {
	z := (n + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

package sweep

import (
	"math/rand/v2"
	"slices"
)

// LaunchOptions are what a sweep file does not say of its launches.
type LaunchOptions struct {
	Sides int    // 2: every point runs on both sides of a comparison of two commits; 0 and 1: there are no sides
	Seed  uint64 // of OrderRandom; the same seed gives the same order
}

// sides is how many launches a point has in a repeat.
func (o LaunchOptions) sides() int { return max(1, o.Sides) }

// Launch is one launch of one point.
type Launch struct {
	Point    *Point
	Side     int    // 0: base, or there are no sides; 1: head
	Profile  string // the profiler of a pass that is not measured; empty: to measure
	Repeat   int    // from 0; of a pass of a profiler 0
	Block    int    // from 0, over the whole session: neighbours to be compared have the same number
	Position int    // from 0, within the block
}

// Launches lists every launch in the order in which they are to run, after Sweep.Order: repeat by repeat over all
// blocks, or point by point. The members of a block, points and for each its sides, are neighbours, rotated from repeat
// to repeat and reversed after a full turn, so that over as many repeats as there are members each has had each
// position equally often; or they are shuffled. With OrderSequential each point is a block. The passes of profilers
// come last, and their blocks have numbers that Round gives to none.
func (s *Sweep) Launches(o LaunchOptions) []Launch {
	launches := make([]Launch, 0, len(s.Points)*s.Repeats*o.sides())
	for repeat := range s.Repeats {
		launches = append(launches, s.Round(repeat, o, nil)...)
	}
	if s.Order == OrderSequential {
		s.byPoint(launches)
	}
	return append(launches, s.profilePasses(o)...)
}

// Round lists the launches of one repeat: those of the blocks in which wanted holds for some point, each with all its
// members; without wanted, of all blocks. With a repeat from Sweep.Repeats on it goes on where Launches ends.
func (s *Sweep) Round(repeat int, o LaunchOptions, wanted func(*Point) bool) []Launch {
	blocks := s.ordered(repeat, o)
	var launches []Launch
	for number, members := range blocks {
		if wanted != nil && !slices.ContainsFunc(members, func(l Launch) bool { return wanted(l.Point) }) {
			continue
		}
		for position, l := range members {
			l.Repeat, l.Block, l.Position = repeat, repeat*len(blocks)+number, position
			launches = append(launches, l)
		}
	}
	return launches
}

// ordered gives the members of each block in the order of a repeat.
func (s *Sweep) ordered(repeat int, o LaunchOptions) [][]Launch {
	var blocks [][]Launch
	for _, points := range s.grouped() {
		var members []Launch
		for _, p := range points {
			for side := range o.sides() {
				members = append(members, Launch{Point: &s.Points[p], Side: side})
			}
		}
		blocks = append(blocks, members)
	}
	if s.Order == OrderRandom {
		random := rand.New(rand.NewPCG(o.Seed, uint64(repeat)))
		random.Shuffle(len(blocks), func(i, j int) { blocks[i], blocks[j] = blocks[j], blocks[i] })
		for _, b := range blocks {
			random.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
		}
		return blocks
	}
	for number, members := range blocks {
		rotated := make([]Launch, len(members))
		for position := range members {
			rotated[position] = members[memberAt(len(members), repeat, number, position)]
		}
		blocks[number] = rotated
	}
	return blocks
}

// grouped gives the points of each block.
func (s *Sweep) grouped() [][]int {
	if s.Order != OrderSequential {
		return s.blocks
	}
	var alone [][]int
	for p := range s.Points {
		alone = append(alone, []int{p})
	}
	return alone
}

// memberAt says which of m members has a position of a block in a repeat.
func memberAt(m, repeat, block, position int) int {
	if repeat/m%2 == 1 {
		position = m - 1 - position
	}
	return (position + repeat + block) % m
}

// byPoint arranges the launches of all repeats point by point, and numbers their blocks in that order.
func (s *Sweep) byPoint(launches []Launch) {
	for i := range launches {
		l := &launches[i]
		l.Block = l.Block%len(s.Points)*s.Repeats + l.Repeat
	}
	slices.SortStableFunc(launches, func(a, b Launch) int { return a.Block - b.Block })
}

// profilePasses lists a pass for each point, profiler and side.
func (s *Sweep) profilePasses(o LaunchOptions) []Launch {
	block := len(s.grouped()) * max(s.Repeats, s.MaxRepeats)
	var launches []Launch
	for i := range s.Points {
		for _, tool := range s.Points[i].Profile {
			for side := range o.sides() {
				launches = append(launches, Launch{
					Point: &s.Points[i], Side: side, Profile: tool, Block: block, Position: side,
				})
			}
			block++
		}
	}
	return launches
}

package sweep

import (
	"math/rand/v2"
	"slices"

	"github.com/neurolens/neurolens/runner/profiler"
)

// LaunchOptions define how the launches of a sweep are listed.
type LaunchOptions struct {
	Sides int    // 2: every point runs on both sides of a comparison of two commits; 0 and 1: there are no sides
	Seed  uint64 // of the order; the same seed gives the same order
	// Absent are the profilers that are not installed, each with the reason. A pass is listed once for each benchmark, to tell of it.
	Absent map[string]string
}

// sides returns how many launches a point has in a repeat.
func (o LaunchOptions) sides() int { return max(1, o.Sides) }

// Launch is one launch of one point.
type Launch struct {
	Point    *Point
	Side     int    // 0: base, or there are no sides; 1: head
	Profile  string // the profiler of a pass that is not measured; empty: a measurement
	Repeat   int    // from 0; for passes of a profiler their own
	Block    int    // from 0, over the whole session: launches to be compared have the same number
	Position int    // from 0, within the block
}

// Timeouts returns the deadlines of the launch: a pass of a profiler may have one of its own.
func (l Launch) Timeouts() Timeouts {
	t := l.Point.Timeouts
	if own, given := l.Point.ProfileTimeouts[l.Profile]; given {
		t.Profile = own
	}
	return t
}

// Launches lists all launches in the order in which they run, which depends on Sweep.Order: repeat by repeat over all blocks, or point
// by point. A block is absent from the repeats that its points do not have.
//
// The members of a block (its points, and for each point its sides) run next to each other, in a random order that differs between
// repeats: see drawOrder. With orderRandom the blocks are shuffled too. With orderSequential each point is a block.
//
// The points of calibrate are blocks that are spread evenly among the others, in every order. Profiler passes come last; Round never
// uses the numbers of their blocks. Skipped points come first, once each, in the first repeat only, because nothing of them runs. Their
// blocks have the highest numbers.
func (s *Sweep) Launches(o LaunchOptions) []Launch {
	runs := len(s.Skipped)
	for i := range s.Points {
		runs += s.Points[i].Repeats
	}
	launches := make([]Launch, 0, runs*o.sides())
	passes := s.profilePasses(o)
	launches = append(launches, s.skips(o, s.firstPass()+len(passes)/o.sides())...)
	passes = s.own(passes)
	if s.Order == orderSequential {
		blocks := s.byPoint(o)
		setPositions(blocks, 0)
		launches = append(launches, s.own(slices.Concat(blocks...))...)
	} else {
		for repeat := range s.Repeats {
			launches = append(launches, s.Round(repeat, o, nil)...)
		}
	}
	return append(launches, passes...)
}

// skips lists the launches of skipped points, which do not happen.
func (s *Sweep) skips(o LaunchOptions, block int) []Launch {
	var launches []Launch
	for i := range s.Skipped {
		for side := range o.sides() {
			launches = append(launches, Launch{Point: &s.Skipped[i], Side: side, Block: block + i, Position: side})
		}
	}
	return launches
}

// Round lists the launches of one repeat. If wanted is nil, they are the launches of Launches; for a repeat after these, all blocks.
// Otherwise they continue after Launches: all members of the blocks that have no more planned repeats and in which wanted is true for
// some point and, if there are any, the points of calibrate. Repeats from FirstRound on have such launches.
func (s *Sweep) Round(repeat int, o LaunchOptions, wanted func(*Point) bool) []Launch {
	blocks := interleave(s.ordered(repeat, o), s.calibrations(repeat, o))
	setPositions(blocks, repeat*len(blocks))
	var launches []Launch
	some := wanted == nil
	for _, members := range blocks {
		calibration, planned := members[0].Point.Calibration, repeat < members[0].Point.Repeats
		if repeat < s.Repeats && planned != (wanted == nil) {
			continue
		}
		if !calibration && wanted != nil && !slices.ContainsFunc(members, func(l Launch) bool { return wanted(l.Point) }) {
			continue
		}
		some = some || !calibration
		launches = append(launches, members...)
	}
	if !some {
		return nil
	}
	return s.own(launches)
}

// FirstRound returns the first repeat that may have launches besides the ones of Launches.
func (s *Sweep) FirstRound() int {
	first := s.Repeats
	for i := range s.Points {
		if s.RelError > 0 {
			first = min(first, s.Points[i].Repeats)
		}
	}
	return first
}

// setPositions sets the block and position of launches. Blocks are in the order in which they run.
func setPositions(blocks [][]Launch, first int) {
	for i, members := range blocks {
		for position := range members {
			members[position].Block, members[position].Position = first+i, position
		}
	}
}

// interleave inserts blocks evenly among others. The distances before the first and after the last are half of the distance between two,
// so that the distance is the same from one repeat to the next.
func interleave(others, blocks [][]Launch) [][]Launch {
	var all [][]Launch
	from := 0
	for i, block := range blocks {
		until := ((2*i+1)*len(others) + len(blocks)) / (2 * len(blocks))
		all = append(append(all, others[from:until]...), block)
		from = until
	}
	return append(all, others[from:]...)
}

// ordered returns the members of each block in the order of a repeat.
func (s *Sweep) ordered(repeat int, o LaunchOptions) [][]Launch {
	return s.arranged(s.grouped(), repeat, o)
}

// calibrations returns the blocks of the points of calibrate in a repeat. Each of them comes first in turn.
func (s *Sweep) calibrations(repeat int, o LaunchOptions) [][]Launch {
	var alone [][]int
	for _, p := range s.calibration {
		alone = append(alone, []int{p})
	}
	blocks := s.arranged(alone, repeat, o)
	if len(blocks) == 0 {
		return nil
	}
	first := repeat % len(blocks)
	return slices.Concat(blocks[first:], blocks[:first])
}

// arranged returns the launches of blocks of points in a repeat.
func (s *Sweep) arranged(groups [][]int, repeat int, o LaunchOptions) [][]Launch {
	var blocks [][]Launch
	for _, points := range groups {
		var members []Launch
		for _, p := range points {
			for side := range o.sides() {
				members = append(members, Launch{Point: s.at(p), Side: side, Repeat: repeat})
			}
		}
		blocks = append(blocks, members)
	}
	for i, members := range blocks {
		order := drawOrder(len(members), o.Seed, i, repeat)
		blocks[i] = make([]Launch, len(members))
		for position, member := range order {
			blocks[i][position] = members[member]
		}
	}
	if s.Order == orderRandom {
		random := rand.New(rand.NewPCG(o.Seed, uint64(repeat)))
		random.Shuffle(len(blocks), func(i, j int) { blocks[i], blocks[j] = blocks[j], blocks[i] })
	}
	return blocks
}

// grouped returns the points of each block, without the points of calibrate.
func (s *Sweep) grouped() [][]int {
	if s.Order != orderSequential {
		return s.blocks
	}
	var alone [][]int
	for p := range len(s.Points) + len(s.others) {
		if !s.at(p).Calibration {
			alone = append(alone, []int{p})
		}
	}
	return alone
}

// byPoint lists the blocks of all repeats point by point. Those of calibrate still come repeat by repeat, so that they cover the
// whole session.
func (s *Sweep) byPoint(o LaunchOptions) [][]Launch {
	var repeats [][][]Launch
	var calibrations [][]Launch
	for repeat := range s.Repeats {
		repeats = append(repeats, s.ordered(repeat, o))
		calibrations = append(calibrations, s.calibrations(repeat, o)...)
	}
	var blocks [][]Launch
	for point := range repeats[0] {
		for _, repeat := range repeats[:repeats[0][point][0].Point.Repeats] {
			blocks = append(blocks, repeat[point])
		}
	}
	return interleave(blocks, calibrations)
}

// firstPass returns the number of the first block that Round never uses.
func (s *Sweep) firstPass() int {
	return (len(s.grouped()) + len(s.calibration)) * max(s.Repeats, s.MaxRepeats)
}

// countedPasses is the number of passes of a profiler that counts, if its point has as many repeats: a gate needs five runs of a side.
const countedPasses = 5

// passesOf returns how many passes a profiler makes at a point. What it counts is compared, so it needs several.
func passesOf(p *Point, tool string) int {
	if t, _ := profiler.Of(tool); t.Metric != "" {
		return max(1, min(p.Repeats, countedPasses))
	}
	return 1
}

// profilePasses lists the passes for each point, profiler and side, repeat by repeat; one for each benchmark, where the profiler is not
// installed.
func (s *Sweep) profilePasses(o LaunchOptions) []Launch {
	block, told := s.firstPass(), map[[2]string]bool{}
	var launches []Launch
	for repeat := range countedPasses {
		for i := range len(s.Points) + len(s.others) {
			p := s.at(i)
			for _, tool := range p.Profile {
				if repeat >= passesOf(p, tool) {
					continue
				}
				if of := [2]string{p.Benchmark, tool}; o.Absent[tool] != "" {
					if told[of] {
						continue
					}
					told[of] = true
				}
				for side := range o.sides() {
					launches = append(launches, Launch{
						Point: p, Side: side, Profile: tool, Repeat: repeat, Block: block, Position: side,
					})
				}
				block++
			}
		}
	}
	return launches
}

// patternRepeats is the number of repeats that a pattern covers.
const patternRepeats = 6

// patterns are the orders of a block in the first repeats: whether it runs in reverse. With few repeats, a coin for each would too often
// produce an order that a periodic disturbance follows: one side always first, or first in every other block. These patterns follow no
// sine of any period, whether 5 or all 6 repeats are measured. They were selected among all 64 by simulation: see TestPeriods of package
// judge.
var patterns = [...]string{
	"010000", "001000", "101000", "000100", "001010", "111010", "000110", "101110",
}

// drawOrder returns the order of the members of a block in a repeat. It depends only on the seed, the block and the repeat, so a session
// that is continued has the same order.
//
// An order that alternates by a rule, as AB BA BA AB, follows some periodic disturbance of the machine, and then repeats do not help
// (restricted randomization: Bailey and Nelson, Biometrical Journal 45, 2003). Each member is as likely as any other to run first.
func drawOrder(members int, seed uint64, block, repeat int) []int {
	first := rand.New(rand.NewPCG(seed, uint64(block)))
	order := first.Perm(members)
	if repeat >= patternRepeats {
		return rand.New(rand.NewPCG(first.Uint64(), uint64(repeat))).Perm(members)
	}
	if patterns[first.IntN(len(patterns))][repeat] == '1' {
		slices.Reverse(order)
	}
	return order
}

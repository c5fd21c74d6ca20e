package sweep

import (
	"maps"
	"slices"
)

// Only is the sweep with only the wanted points, in the same order and blocks.
func (s *Sweep) Only(wanted func(*Point) bool) *Sweep {
	only := *s
	only.Points, only.Skipped = nil, nil
	for i := range s.Skipped {
		if wanted(&s.Skipped[i]) {
			only.Skipped = append(only.Skipped, s.Skipped[i])
		}
	}
	at := map[int]int{} // of a point, where it was and where it is
	for i := range s.Points {
		if wanted(&s.Points[i]) {
			at[i] = len(only.Points)
			only.Points = append(only.Points, s.Points[i])
		}
	}
	move := func(points []int) (moved []int) {
		for _, i := range points {
			if to, ok := at[i]; ok {
				moved = append(moved, to)
			}
		}
		return moved
	}
	only.blocks, only.calibration = nil, move(s.calibration)
	for _, block := range s.blocks {
		if moved := move(block); len(moved) > 0 {
			only.blocks = append(only.blocks, moved)
		}
	}
	return &only
}

// Suites lists the labels of all points, each once, in alphabetical order.
func (s *Sweep) Suites() []string {
	labels := map[string]bool{}
	for _, points := range [][]Point{s.Points, s.Skipped} {
		for i := range points {
			labels[points[i].Suite] = true
		}
	}
	return slices.Sorted(maps.Keys(labels))
}

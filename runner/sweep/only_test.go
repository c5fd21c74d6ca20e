package sweep

import (
	"fmt"
	"slices"
	"testing"
)

// TestOnly: the points that are left keep their order and their blocks, with and without those of calibrate.
func TestOnly(t *testing.T) {
	const text = tiny + "calibrate: true\nbaseline: precision=fp32\ngrid: {batch_size: [1, 2], precision: [fp32, fp64]}\nrepeats: 1"
	s := parse(t, text, Overrides{})
	whole := fmt.Sprint(len(s.Points))
	name := func(p *Point) string {
		if p.Calibration {
			return "calibration"
		}
		return fmt.Sprint(*p.BatchSize, " ", p.Precision)
	}
	launches := func(s *Sweep) (all []string) {
		for _, l := range s.Launches(LaunchOptions{Sides: 2}) {
			all = append(all, fmt.Sprint(name(l.Point), " ", l.Side, " ", l.Block))
		}
		return all
	}
	equal(t, slices.Sorted(slices.Values(launches(s.Only(func(p *Point) bool { return !p.Control && *p.BatchSize == 2 })))),
		[]string{"2 fp32 0 0", "2 fp32 1 0", "2 fp64 0 0", "2 fp64 1 0"})
	calibration := s.Only(func(p *Point) bool { return p.Calibration })
	equal(t, []int{len(calibration.Points), len(launches(calibration))}, []int{3, 6})
	equal(t, len(s.Only(func(*Point) bool { return false }).Launches(LaunchOptions{})), 0)
	equal(t, fmt.Sprint(len(s.Points)), whole)
}

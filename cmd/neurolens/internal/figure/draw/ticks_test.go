package draw

import (
	"math"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
)

// TestLogTicks: a logarithmic axis of a panel has two names at least, wherever its ends lie, and none touches another one.
func TestLogTicks(t *testing.T) {
	for low := 10.; low < 100; low += 6 {
		for _, ratio := range []float64{1.6, 4, 8, 22, 60} {
			f := &figure.Figure{Kind: figure.ECDF, X: figure.Axis{Unit: "ns", Scale: figure.Log, Own: true}, Y: figure.Axis{Unit: "ratio", High: 1}}
			for range 6 {
				f.Panels = append(f.Panels, figure.Panel{Title: "a", Series: []figure.Series{{Style: figure.Steps, Marks: []figure.Mark{
					{X: low * 1e6, Y: .5, Low: nan, High: nan}, {X: ratio * low * 1e6, Y: 1, Low: nan, High: nan},
				}}}})
			}
			s, err := newSheet(f, Options{}, drawnHere)
			if err != nil {
				t.Fatal(err)
			}
			last, named := math.Inf(-1), 0
			for _, tick := range s.xs[0].ticks {
				half, at := s.width(tick.Text, textSize, false)/2, s.xs[0].share(tick.At)*s.panelWidth
				if tick.Text == "" {
					continue
				}
				if named++; at-half < last {
					t.Errorf("%v ms, %v times: %s touches the name before", low, ratio, tick.Text)
				}
				last = at + half
			}
			if named < 2 {
				t.Errorf("%v ms, %v times: ticks are %v", low, ratio, s.xs[0].ticks)
			}
		}
	}
}

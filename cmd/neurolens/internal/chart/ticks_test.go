package chart

import (
	"math"
	"testing"
)

// TestLogTicks: a logarithmic axis of a panel has two names at least, wherever its ends lie, and none touches another one.
func TestLogTicks(t *testing.T) {
	for low := 10.; low < 100; low += 6 {
		for _, ratio := range []float64{1.6, 4, 8, 22, 60} {
			f := &Figure{Kind: ECDF, X: Axis{Unit: "ns", Scale: Log, Own: true}, Y: Axis{Unit: "ratio", High: 1}}
			for range 6 {
				f.Panels = append(f.Panels, Panel{Title: "a", Series: []Series{{Style: Steps, Marks: []Mark{
					{X: low * 1e6, Y: .5, Low: nan, High: nan}, {X: ratio * low * 1e6, Y: 1, Low: nan, High: nan},
				}}}})
			}
			s, err := newSheet(f, ImageOptions{}, drawnHere)
			ok(t, err)
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

// TestTwoDates: an axis of time has at least two ticks, at any length and in little room.
func TestTwoDates(t *testing.T) {
	for hours := 2; hours < 24*800; hours += 1 + hours/7 {
		from := 1.8e9 + 1234*float64(hours)
		if ticks := NewAxisScale(Axis{Scale: Time}, []float64{from, from + 3600*float64(hours)}).Ticks(2); len(ticks) != 2 || ticks[0].Text == ticks[1].Text {
			t.Errorf("of %d hours: %v", hours, ticks)
		}
	}
}

// TestCounted: an axis of a rate says what it counts, in the unit of each value.
func TestCounted(t *testing.T) {
	axis := Axis{Unit: "items/s"}
	for v, want := range map[float64]string{0: "0 items/s", 512: "512 items/s", 1200: "1.20 kitems/s"} {
		if got := TickText(axis, v); got != want {
			t.Errorf("%g is %s, want %s", v, got, want)
		}
	}
	if name, factor := NewAxisScale(axis, []float64{100, 2000}).Unit(); name != "kitems/s" || factor != 1e3 {
		t.Errorf("the axis is in %s of %g", name, factor)
	}
	axis.Unit = "1/s"
	if got := TickText(axis, 1200); got != "1.20 k/s" {
		t.Error(got)
	}
}

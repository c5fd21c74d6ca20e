package chart

import (
	"math"
	"strings"
	"testing"
)

// TestTicks: round values in one unit, powers of ten or two on log axes, round times.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		axis      Axis
		low, high float64
		most      int
		want      string
	}{
		{Axis{Unit: "ns"}, 0, 1e6, 6, "0 ms|0.2 ms|0.4 ms|0.6 ms|0.8 ms|1.0 ms"},
		{Axis{Unit: "ns"}, 4.01e6, 4.52e6, 6, "4.1 ms|4.2 ms|4.3 ms|4.4 ms|4.5 ms"},
		{Axis{Unit: "ratio"}, -.13, .17, 5, "−10 %|0 %|10 %"},
		{Axis{Unit: "ratio"}, 0, 1, 6, "0 %|20 %|40 %|60 %|80 %|100 %"},
		{Axis{Unit: "B"}, 1 << 30, 4 << 30, 7, "1.0 GiB|1.5 GiB|2.0 GiB|2.5 GiB|3.0 GiB|3.5 GiB|4.0 GiB"},
		{Axis{}, 1, 300, 6, "50|100|150|200|250|300"},
		{Axis{Unit: "widgets"}, 0, 4, 5, "0 widgets|1 widgets|2 widgets|3 widgets|4 widgets"},
		{Axis{Unit: "ns", Scale: Log}, 2e3, 3e8, 7, "10 µs|100 µs|1 ms|10 ms|100 ms"},
		{Axis{Unit: "ns", Scale: Log}, 2e3, 3e4, 7, "2 µs|5 µs|10 µs|20 µs"},
		{Axis{Scale: Log}, 1, 256, 5, "1|4|16|64|256"},
		{Axis{Scale: Log}, 1, 300, 5, "1|10|100"},
		{Axis{Unit: "B", Scale: Log}, 1000, 1 << 20, 5, "1 KiB|8 KiB|64 KiB|512 KiB"},
		{Axis{Scale: Time}, 1785628800, 1785628800 + 80*86400, 6, "2026-08-03|2026-08-17|2026-08-31|2026-09-14|2026-09-28|2026-10-12"},
		{Axis{Scale: Time}, 1785628800, 1785628800 + 800*86400, 6, "2027-01|2027-07|2028-01|2028-07"},
		{Axis{Scale: Time}, 1785628800, 1785628800 + 3*3600, 5, "00:00|01:00|02:00|03:00"},
		{Axis{Unit: "ns", Own: true}, 1000, 1001, 5, "1.00 µs|1.05 µs"},
		{Axis{Unit: "ns", Own: true}, 1000, 1200, 3, "1.0 µs|1.1 µs|1.2 µs"},
		{Axis{Scale: Categories, Categories: []string{"a", "b"}}, 0, 1, 1, "a|b"},
		{Axis{Whole: true}, 1, 1, 6, "1"},
		{Axis{Whole: true}, .92, 2.08, 6, "1|2"},
		{Axis{Whole: true}, 1, 3, 2, "1|2|3"},
		{Axis{Whole: true}, 1, 40, 5, "10|20|30|40"},
		{Axis{Unit: "ns", Scale: Log}, 12e6, 350e6, 3, "30 ms|100 ms|300 ms"},
		{Axis{Unit: "ns", Scale: Log}, 12e6, 350e6, 2, "20 ms|100 ms"},
		{Axis{Unit: "ns", Scale: Log}, 11e6, 49e6, 3, "20 ms|40 ms"},
		{Axis{Unit: "ns", Scale: Log}, 62e3, 270e6, 4, "100 µs|1 ms|10 ms|100 ms"},
		{Axis{Unit: "ns", Scale: Log}, 62e3, 270e6, 9, "100 µs|300 µs|1 ms|3 ms|10 ms|30 ms|100 ms"},
		{Axis{Scale: Log, Measured: []float64{1, 4, 16, 64}}, 1, 64, 7, "1|4|16|64"},
		{Axis{Scale: Log, Measured: []float64{1, 4, 16, 64}}, 1, 64, 3, "1|16"},
		{Axis{Measured: []float64{1, 128}}, 1, 128, 7, "1|128"},
	} {
		var texts []string
		for _, tick := range NewAxisScale(c.axis, []float64{c.low, c.high}).Ticks(c.most) {
			texts = append(texts, tick.Text)
		}
		if got := strings.Join(texts, "|"); got != c.want {
			t.Errorf("%+v from %g to %g: %s, want %s", c.axis, c.low, c.high, got, c.want)
		}
	}
}

// TestPlace: ends lie at the ends, what has no place says so.
func TestPlace(t *testing.T) {
	log := NewAxisScale(Axis{Scale: Log}, []float64{1, 100, 0, -5, math.NaN(), math.Inf(1)})
	for v, want := range map[float64]float64{1: 0, 10: .5, 100: 1} {
		if got, ok := log.Place(v); !ok || math.Abs(got-want) > 1e-12 || math.Abs(log.Value(want)-v) > 1e-9 {
			t.Errorf("%g lies at %g, %v", v, got, ok)
		}
	}
	for _, v := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, ok := log.Place(v); ok {
			t.Errorf("%g has a place on a log axis", v)
		}
	}
	wide := NewAxisScale(Axis{Low: -1, High: 9}, []float64{3})
	if wide.Low != -1 || wide.High != 9 {
		t.Errorf("what is to be seen in any case is not: %g to %g", wide.Low, wide.High)
	}
	one := NewAxisScale(Axis{}, []float64{7})
	if got, ok := one.Place(7); !ok || got != .5 {
		t.Errorf("a single value lies at %g", got)
	}
	if got := NewAxisScale(Axis{Scale: Categories, Categories: []string{"a", "b"}}, nil); got.Low != -.5 || got.High != 1.5 {
		t.Errorf("categories go from %g to %g", got.Low, got.High)
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		axis Axis
		v    float64
		want string
	}{
		{Axis{Unit: "ns"}, 4.02e6, "4.02 ms"},
		{Axis{Unit: "ns"}, math.NaN(), "–"},
		{Axis{}, 1024, "1024"},
		{Axis{Scale: Time}, 1785628800, "2026-08-02 00:00:00"},
		{Axis{Scale: Categories, Categories: []string{"a", "b"}}, 1, "b"},
		{Axis{Scale: Categories, Categories: []string{"a", "b"}}, 2, ""},
	} {
		if got := TickText(c.axis, c.v); got != c.want {
			t.Errorf("%g is %q, want %q", c.v, got, c.want)
		}
	}
}

// FuzzTicks: whatever the values are, there are few ticks, in order, within the range, and no two have the same text.
func FuzzTicks(f *testing.F) {
	for _, v := range [][2]float64{
		{0, 0},
		{1, 1},
		{1, 1 + 2e-16},
		{0, 5e-324},
		{-1.7e308, 1.7e308},
		{1e-300, 1e300},
		{-3, 4e12},
		{1.7e9, 1.7e9 + 1},
		{-9e9, 9e9},
		{1, math.Inf(1)},
		{1e15, 1e15 + 1},
		{1e-9, 2e-9},
		{123456789, 123456790},
	} {
		f.Add(v[0], v[1], 5)
	}
	f.Fuzz(func(t *testing.T, a, b float64, most int) {
		most = min(max(most, 1), 30)
		for _, kind := range []Scale{Linear, Log, Time} {
			for _, unit := range []string{"", "ns", "B", "ratio"} {
				s := NewAxisScale(Axis{Scale: kind, Unit: unit}, []float64{a, b})
				if !(s.Low < s.High) {
					t.Fatalf("%s %g to %g: the range is %g to %g", kind, a, b, s.Low, s.High)
				}
				ticks := s.Ticks(most)
				if len(ticks) > most+4 {
					t.Errorf("%s %g to %g: %d ticks, at most %d", kind, a, b, len(ticks), most)
				}
				for i, tick := range ticks {
					place, ok := s.Place(tick.At)
					if !ok || place < -1e-6 || place > 1+1e-6 {
						t.Errorf("%s %g to %g: tick %g lies at %g", kind, a, b, tick.At, place)
					}
					if i > 0 && (tick.At <= ticks[i-1].At || tick.Text == ticks[i-1].Text) {
						t.Errorf("%s %q %g to %g: tick %+v after %+v", kind, unit, a, b, tick, ticks[i-1])
					}
				}
			}
		}
	})
}

// TestAtLeastTwoTicks: one tick does not say how long a distance is, wherever the ends of an axis lie.
func TestAtLeastTwoTicks(t *testing.T) {
	for low := 100.; low < 1000; low += 7 {
		for length := 1.; length < 300; length *= 1.3 {
			for most := 2; most < 8; most++ {
				if ticks := NewAxisScale(Axis{}, []float64{low, low + length}).Ticks(most); len(ticks) < 2 || len(ticks) > 6+most {
					t.Fatalf("%v to %v, at most %d: %v", low, low+length, most, ticks)
				}
			}
		}
	}
}

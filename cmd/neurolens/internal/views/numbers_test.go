package views

import (
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestSigned: a change is in percent, however large. Changes to a small rest have the digits that tell rests apart.
func TestSigned(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{
		0: "0.0 %", .0004: "0.0 %", -.0123: "−1.2 %", .147: "+14.7 %", .9999: "+100.0 %", 1.4: "+140 %", 37: "+3,700 %", 974: "+97,400 %",
		-.5: "−50.0 %", -.985: "−98.5 %", -.99: "−99.0 %", -.9959: "−99.59 %", -.999587: "−99.959 %", -.999985: "−99.9985 %", -1: "−100 %", 1e30: "+1e+32 %",
	} {
		if got := Signed(v); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
}

// TestInterval: both ends of an interval are in percent, or both have the unit of a difference.
func TestInterval(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		low, high float64
		scale     schema.Scale
		want      string
	}{
		{-.063, .0824, schema.ScaleRatio, "−6.3 +8.2"},
		{-.063, 8.14, schema.ScaleRatio, "−6.3 +814"},
		{1.5, 2, schema.ScaleRatio, "+150 +200"},
		{-.5, .999, schema.ScaleRatio, "−50.0 +99.9"},
		{-1.5, 8, schema.ScaleDifference, "−1.50 ns +8.00 ns"},
	} {
		if got := Interval(c.low, c.high, c.scale, "ns"); got != c.want {
			t.Errorf("%v to %v: %s, want %s", c.low, c.high, got, c.want)
		}
	}
}

// TestSignedQuantity: a difference of 0 has no sign.
func TestSignedQuantity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v          float64
		unit, want string
	}{{3, "allocs/op", "+3.00 allocs/op"}, {-3, "allocs/op", "−3.00 allocs/op"}, {0, "allocs/op", "0 allocs/op"}, {0, "", "0"}, {.02, "ratio", "+2.00 pp"}, {0, "ratio", "0 pp"}} {
		if got := SignedQuantity(c.v, c.unit); got != c.want {
			t.Errorf("%g %s: %s, want %s", c.v, c.unit, got, c.want)
		}
	}
}

// TestOffset: a header says what its times are offset from, also where the offset is zero. A reader elsewhere gets UTC.
func TestOffset(t *testing.T) {
	for zone, want := range map[int]string{0: "UTC", 2 * 3600: "UTC+02:00", -9000: "UTC-02:30"} {
		local := time.Local
		time.Local = time.FixedZone("", zone)
		here, elsewhere, evening := Display{Now: time.Unix(0, 0)}, Display{Now: time.Unix(0, 0), UTC: true}, time.Date(2026, 10, 7, 23, 0, 0, 0, time.UTC)
		got, day := here.Offset(), here.Day(&evening)
		utc, utcDay := elsewhere.Offset(), elsewhere.Day(&evening)
		if time.Local = local; got != want || utc != "UTC" || utcDay != "2026-10-07" || (day == utcDay) != (zone <= 0) {
			t.Errorf("%d s: %s, want %s, and %s; %s and %s", zone, got, want, utc, day, utcDay)
		}
	}
}

// TestRates: the unit of a rate, or else the name of its metric, names what the rate counts, in the plural except for short forms.
func TestRates(t *testing.T) {
	for _, c := range []struct{ metric, unit, want string }{
		{"throughput", "1/s", "1.20 kitems/s"},
		{"throughput", "images/s", "1.20 kimages/s"},
		{"output_token_throughput", "1/s", "1.20 ktok/s"},
		{"requests", "1/s", "1.20 kreq/s"},
		{"latency", "1/s", "1.20 k/s"},
		{"throughput", "B/s", "1.20 kB/s"},
	} {
		valuetest.Equal(t, QuantityOf(1200., c.unit, c.metric), c.want)
	}
}

package probe

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// The beginnings of the names of facts about readings.
const (
	throttleShare = "throttle."
	energyFact    = "energy."
)

// FactTelemetryDevice is the fact with the UUID of the first device that is read. That of the second one ends in .1.
const FactTelemetryDevice = "telemetry.device"

// MissingTelemetry is the key of the reason why there are no readings at all.
const MissingTelemetry = "telemetry"

// Begin starts readings, hz times a second, of the processors and of devices as package device names them; it is followed by End. The first
// call starts the process that reads, if there is none. Begin returns after the first reading; then nothing is sent until End.
func (w *Watcher) Begin(hz float64, devices []string) {
	w.measured = nil
	for _, name := range devices {
		if kind, rest, ok := strings.Cut(name, "-"); ok { // package device has the kind in lower case
			w.measured = append(w.measured, strings.ToUpper(kind)+"-"+rest)
		}
	}
	if w.child == nil && w.lost == "" {
		w.start(watchRole)
		w.withDevices(map[string]string{}) // it is not still starting while the run measures
	}
	w.began = time.Now()
	if w.child == nil {
		return
	}
	err := w.child.order(strings.Join(append([]string{orderBegin, schema.CanonicalFloat(hz)}, w.measured...), " "))
	if err == nil { // the first reading is before the run, whose setup may take less time than an interval
		_, err = w.child.line(longestState)
	}
	if err != nil {
		w.lost = reason(err)
		w.Close()
	}
}

// End ends the readings and returns them. If the process that reads does not answer within a few seconds, or not sensibly, Missing has the
// reason for MissingTelemetry, and it is not asked again.
func (w *Watcher) End() Readings {
	if w.child != nil {
		r, err := w.child.readings(w.began)
		if r.Devices = w.measured; err == nil {
			return r
		}
		w.lost = reason(err)
		w.Close()
	}
	return Readings{Missing: map[string]string{MissingTelemetry: w.lost}, Devices: w.measured}
}

// readings asks for the readings since a time.
func (c *child) readings(began time.Time) (Readings, error) {
	if err := c.order(orderEnd); err != nil {
		return Readings{}, err
	}
	line, err := c.line(longestReadings)
	if err != nil {
		return Readings{}, err
	}
	return parseReadings(line, began, c.patience+time.Since(began))
}

// telemetryMetrics are the metrics that readings may have.
var telemetryMetrics = []string{
	"clock_sm", "clock_memory", "throttle", "gpu_utilization", "memory_utilization", "power", "energy", "temperature", "device_memory_used",
	"cpu_energy", "cpu_frequency", "cpu_pressure", "cpu_steal",
}

// BaseMetric returns the metric without the suffix of its device: power of power.1.
func BaseMetric(name string) string {
	base, _, _ := strings.Cut(name, ".")
	return base
}

// IsReading reports whether readings may have a metric, such as power, or power.1 of the second device.
func IsReading(name string) bool {
	base, device, suffixed := strings.Cut(name, ".")
	n, err := strconv.Atoi(device)
	return slices.Contains(telemetryMetrics, base) && (!suffixed || err == nil && Suffix(n) == "."+device && n > 0)
}

// Implausible is the reason why there is no metric if a reading cannot be true.
const Implausible = "implausible"

// largest are values, in stored units, that no reading exceeds. Drivers write -1, also as an unsigned number, for what they do not know.
var largest = map[string]float64{
	"gpu_utilization": 1, "memory_utilization": 1, "cpu_pressure": 1, "cpu_steal": 1, "temperature": 300,
	"clock_sm": 100_000, "clock_memory": 100_000, "cpu_frequency": 100_000, // 100 GHz
	"power": 1e8, "device_memory_used": 1 << 50, // 100 kW, 1 PiB
}

// coldest is a temperature in °C below which nothing works.
const coldest = -100

// plausible reports whether all readings may be true.
func plausible(s Series) bool {
	name, least := BaseMetric(s.Name), 0.
	if name == "temperature" {
		least = coldest
	}
	most, bounded := largest[name]
	return float64(slices.Min(s.Values))*s.Tick >= least && (!bounded || float64(slices.Max(s.Values))*s.Tick <= most)
}

// parseReadings reads the document of a sampler that began at a time, and ended after took at most. It refuses what no sampler writes: another
// beginning, times that go back or are later, series of different lengths, other metrics.
func parseReadings(document []byte, began time.Time, took time.Duration) (Readings, error) {
	var r Readings
	if err := json.Unmarshal(document, &r); err != nil {
		return Readings{}, fmt.Errorf("reading telemetry: %w", err)
	}
	if late := time.Unix(0, r.Began).Sub(began); len(r.Series) > 0 && late.Abs() > took {
		return Readings{}, malformed("telemetry", strconv.FormatInt(r.Began, 10))
	}
	if r.Missing == nil {
		r.Missing = map[string]string{}
	}
	seen := map[string]bool{}
	for _, s := range r.Series {
		whole := len(s.AtNS) == len(s.Values) && len(s.AtNS) > 0 && len(s.AtNS) <= maxReadings+1
		if !whole || !IsReading(s.Name) || seen[s.Name] || !(s.Tick > 0) || s.Tick > 1 || !slices.IsSorted(s.AtNS) ||
			s.AtNS[0] < 0 || s.AtNS[len(s.AtNS)-1] > int64(took) {
			return Readings{}, malformed("telemetry", s.Name)
		}
		seen[s.Name] = true
	}
	for _, s := range r.Series {
		if !plausible(s) {
			r.Missing[s.Name] = Implausible
		}
	}
	r.Series = slices.DeleteFunc(r.Series, func(s Series) bool { return r.Missing[s.Name] == Implausible })
	for name, why := range r.Missing {
		if !IsReading(name) || seen[name] && why != Implausible {
			return Readings{}, malformed("telemetry", name)
		}
	}
	return r, nil
}

// throttleReasons are the reasons for a lower clock that disturb a measurement, by the bits of nvmlClocksEventReasons in NVIDIA's nvml.h. Being
// idle (1), and a clock that somebody has set (2), do not.
var throttleReasons = []struct {
	bit  int64
	word string
}{
	{0x04, "power_cap"},
	{0x08, "hardware_slowdown"},
	{0x20, "thermal"},
	{0x40, "hardware_thermal"},
	{0x80, "power_brake"},
}

// ThrottleReasons returns the reasons in a mask of bits of the metric throttle.
func ThrottleReasons(mask int64) (words []string) {
	for _, reason := range throttleReasons {
		if mask&reason.bit != 0 {
			words = append(words, reason.word)
		}
	}
	return words
}

// ThrottleShares returns the facts throttle.power_cap and so on of readings of the metric throttle: in how many of them, in percent, each
// reason lowered the clock. device is the suffix of the metric.
func ThrottleShares(masks []int64, device string) map[string]string {
	shares := map[string]string{}
	for _, reason := range throttleReasons {
		n := 0
		for _, mask := range masks {
			if mask&reason.bit != 0 {
				n++
			}
		}
		shares[throttleShare+reason.word+device] = percentage(uint64(n), uint64(len(masks)))
	}
	return shares
}

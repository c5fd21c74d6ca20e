package probe

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// busyServer has what the readings of processors need.
var busyServer = map[string]string{
	raplZones + "/intel-rapl:0/name":                "package-0\n",
	raplZones + "/intel-rapl:0/max_energy_range_uj": "262143328850\n",
	raplZones + "/intel-rapl:0/energy_uj":           "262143328000\n",
	raplZones + "/intel-rapl:0:0/name":              "core\n",
	raplZones + "/intel-rapl:0:0/energy_uj":         "5\n",
	raplZones + "/intel-rapl:1/name":                "package-1\n",
	raplZones + "/intel-rapl:1/max_energy_range_uj": "262143328850\n",
	raplZones + "/intel-rapl:1/energy_uj":           "1000\n",
	raplZones + "/intel-rapl:2/name":                "psys\n",
	raplZones + "/intel-rapl:2/energy_uj":           "9\n",
	cpuDir + "/cpufreq/policy0/scaling_cur_freq":    "1200000\n",
	cpuDir + "/cpufreq/policy4/scaling_cur_freq":    "3400123\n",
	"proc/pressure/cpu":                             "some avg10=1.50 avg60=0.39 avg300=2.88 total=1000000\nfull avg10=0 avg60=0 avg300=0 total=0\n",
	"proc/stat":                                     "cpu  300 0 100 1550 0 0 0 50 20 0\n",
}

// again reads a source once more at a time.
func again(t *testing.T, list []source, name string, at time.Duration) []int64 {
	t.Helper()
	for _, s := range list {
		if s.names[0] == name {
			values, err := s.read(int64(at))
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			return values
		}
	}
	t.Errorf("no source %s", name)
	return nil
}

func set(root fstest.MapFS, file, text string) { root[file] = &fstest.MapFile{Data: []byte(text)} }

// TestProcessorSources: an energy counter goes on after its largest value, the platform (psys) and the cores are no packages, and shares are those
// between two readings.
func TestProcessorSources(t *testing.T) {
	root := tree(busyServer)
	list, missing := processorSources(root)
	if len(list) != 4 || len(missing) != 0 {
		t.Fatalf("%d sources, missing %v", len(list), missing)
	}
	set(root, raplZones+"/intel-rapl:0/energy_uj", "150\n") // 850 + 1 + 150 more
	set(root, raplZones+"/intel-rapl:1/energy_uj", "3000\n")
	valuetest.DeepEqual(t, again(t, list, "cpu_energy", 0), []int64{1001 + 2000}, "µJ after the counter began anew")
	set(root, raplZones+"/intel-rapl:0/energy_uj", "160\n")
	valuetest.DeepEqual(t, again(t, list, "cpu_energy", 0), []int64{1001 + 2000 + 10}, "µJ after that")
	valuetest.DeepEqual(t, again(t, list, "cpu_frequency", 0), []int64{3400123}, "kHz")
	for _, name := range []string{"cpu_pressure", "cpu_steal"} {
		for _, s := range list {
			if s.names[0] == name {
				if _, err := s.read(1e9); err != errNotYet {
					t.Errorf("%s has a first reading: %v", name, err)
				}
			}
		}
	}
	set(root, "proc/pressure/cpu", "some avg10=1.50 avg60=0.39 avg300=2.88 total=1250000\n")
	valuetest.DeepEqual(t, again(t, list, "cpu_pressure", 2*time.Second), []int64{250000}, "millionths of a second in which a task waited a quarter")
	set(root, "proc/stat", "cpu  310 0 100 1550 0 0 0 60 20 0\n")
	valuetest.DeepEqual(t, again(t, list, "cpu_steal", 0), []int64{500000}, "millionths of 20 ticks, 10 of them stolen")
	_, missing = processorSources(tree(nil))
	valuetest.DeepEqual(t, missing, map[string]string{"cpu_energy": absent, "cpu_frequency": absent, "cpu_pressure": absent, "cpu_steal": absent}, "nothing")
	secret := forbidden{tree(busyServer), raplZones + "/intel-rapl:0/energy_uj"}
	_, missing = processorSources(secret)
	valuetest.DeepEqual(t, missing, map[string]string{"cpu_energy": permission}, "for root alone")
}

// TestAMDSources: GPUs are found by their UUIDs, or by their indices, and what a card lacks has a reason.
func TestAMDSources(t *testing.T) {
	files := maps.Clone(twoInstincts)
	const second = drmDevices + "/renderD138/device/"
	for file, value := range map[string]string{
		"gpu_busy_percent": "97", "mem_busy_percent": "12", "mem_info_vram_used": "1073741824", "hwmon/hwmon5/freq1_input": "1700000000",
		"hwmon/hwmon5/freq2_input": "1600000000", "hwmon/hwmon5/power1_average": "300000000", "hwmon/hwmon5/temp1_input": "61000",
	} {
		files[second+file] = value + "\n"
	}
	for _, devices := range [][]string{{"GPU-c0819a8277d3fed1"}, {"GPU-1"}} {
		list, missing := amdSources(tree(files), devices)
		valuetest.DeepEqual(t, missing, map[string]string{"throttle": unsupported}, devices)
		got := map[string]float64{}
		for _, s := range list {
			values, err := s.read(0)
			valuetest.OK(t, err)
			got[s.names[0]] = float64(values[0]) * s.tick
		}
		valuetest.DeepEqual(t, got, map[string]float64{
			"clock_sm": 1700, "clock_memory": 1600, "power": 300000, "gpu_utilization": 0.97, "memory_utilization": 0.12, "temperature": 61,
			"device_memory_used": 1 << 30,
		}, devices)
	}
	list, missing := amdSources(tree(files), []string{"GPU-0", "GPU-9"})
	if len(list) != 0 || missing["power"] != absent || missing["power.1"] != absent {
		t.Errorf("without files: %d sources, missing %v", len(list), missing)
	}
}

// TestSampler: a slow source is read at the beginning, once a second and at the end, and one that fails has no series.
func TestSampler(t *testing.T) {
	n := 0
	fails := single("power", 1, func() (int64, error) {
		if n++; n > 2 {
			return 0, fs.ErrPermission
		}
		return 1, nil
	})
	calls, enough := 0, make(chan struct{})
	counts := single("clock_sm", 1, func() (int64, error) {
		if calls++; calls == 4 {
			close(enough)
		}
		return 2, nil
	})
	s := newSampler([]source{
		counts, fails, single("temperature", 1, func() (int64, error) { return 3, nil }).slower(),
	}, map[string]string{"energy": absent})
	go s.run(time.Millisecond)
	<-enough
	r := s.end()
	if len(seriesOf(r, "clock_sm")) < 5 || len(seriesOf(r, "temperature")) != 2 || seriesOf(r, "power") != nil {
		t.Errorf("%+v", r)
	}
	valuetest.DeepEqual(t, r.Missing, map[string]string{"energy": absent, "power": permission}, "missing")
}

// seriesOf returns the values of a series; nil if there is none.
func seriesOf(r Readings, name string) []int64 {
	for _, s := range r.Series {
		if s.Name == name {
			return s.Values
		}
	}
	return nil
}

// TestReadingsThatLie: a document that no sampler writes is refused as a whole.
func TestReadingsThatLie(t *testing.T) {
	began := time.Unix(1000, 0)
	document := func(series, missing string) string {
		return fmt.Sprintf(`{"began":1000000000000,"series":[%s],"missing":{%s}}`, series, missing)
	}
	const good = `{"name":"power.1","tick":1,"at_ns":[0,5],"values":[7,8]}`
	for _, text := range []string{document("", ""), document(good, `"energy":"absent"`), document(`{"name":"temperature","tick":1,"at_ns":[0],"values":[-5]}`, "")} {
		if _, err := parseReadings([]byte(text), began, time.Second); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{
		"", "null and more", document(good+","+good, ""), document(good, `"power.1":"absent"`), document("", `"latency":"absent"`),
		document(strings.Replace(good, "power.1", "latency", 1), ""), document(strings.Replace(good, "power.1", "power.0", 1), ""),
		document(strings.Replace(good, "power.1", "power.x", 1), ""), document(strings.Replace(good, "[0,5]", "[5,0]", 1), ""),
		document(strings.Replace(good, "[0,5]", "[0]", 1), ""), document(strings.Replace(good, "[0,5]", "[0,1000000001]", 1), ""),
		document(strings.Replace(good, "[0,5]", "[-1,5]", 1), ""),
		document(strings.Replace(good, `"tick":1`, `"tick":0`, 1), ""), strings.Replace(document(good, ""), "1000000000000", "1002000000000", 1),
	} {
		if r, err := parseReadings([]byte(text), began, time.Second); err == nil {
			t.Errorf("%s is taken as %+v", text, r)
		}
	}
}

// TestImplausibleReadings: a series with a reading that cannot be true is missing, and the others are there.
func TestImplausibleReadings(t *testing.T) {
	const document = `{"began":1000000000000,"series":[{"name":"gpu_utilization","tick":0.01,"at_ns":[0,5],"values":[100,250]},` +
		`{"name":"temperature","tick":1,"at_ns":[0],"values":[4294967295]},{"name":"memory_utilization","tick":0.01,"at_ns":[0],"values":[100]},` +
		`{"name":"clock_sm","tick":1,"at_ns":[0],"values":[4294967295]},{"name":"power.1","tick":1,"at_ns":[0],"values":[4294967295]},` +
		`{"name":"energy","tick":1,"at_ns":[0,5],"values":[7,-1]},{"name":"device_memory_used","tick":1,"at_ns":[0],"values":[-1]},` +
		`{"name":"temperature.1","tick":1,"at_ns":[0],"values":[-5]}]}`
	r := valuetest.Must(parseReadings([]byte(document), time.Unix(1000, 0), time.Second))
	valuetest.DeepEqual(t, r.Missing, map[string]string{
		"gpu_utilization": Implausible, "temperature": Implausible, "clock_sm": Implausible, "power.1": Implausible, "energy": Implausible, "device_memory_used": Implausible,
	}, "missing")
	valuetest.DeepEqual(t, len(r.Series) == 2 && r.Series[0].Name == "memory_utilization" && r.Series[1].Name == "temperature.1", true, "series", r.Series)
}

// FuzzReadings: what is accepted is what a sampler could have written.
func FuzzReadings(f *testing.F) {
	f.Add([]byte(`{"began":1,"series":[{"name":"power.1","tick":1,"at_ns":[0,5],"values":[7,8]}],"missing":{"energy":"absent"}}`))
	f.Add([]byte(`{"series":[{"name":"temperature","tick":0.01,"at_ns":[0],"values":[-8]}]}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		r, err := parseReadings(document, time.Unix(0, 1), time.Second)
		if err != nil {
			return
		}
		for _, s := range r.Series {
			if len(s.AtNS) != len(s.Values) || len(s.AtNS) == 0 || r.Missing[s.Name] != "" {
				t.Errorf("%+v", r)
			}
		}
		if again, err := parseReadings(valuetest.Must(json.Marshal(r)), time.Unix(0, 1), time.Second); err != nil {
			t.Errorf("%v is not accepted again: %v", again, err)
		}
	})
}

func TestThrottleShares(t *testing.T) {
	valuetest.DeepEqual(t, ThrottleShares([]int64{1, 4, 4 | 0x40, 0, 2, 0, 0, 0}, ".1"), map[string]string{
		"throttle.power_cap.1": "25", "throttle.hardware_slowdown.1": "0", "throttle.thermal.1": "0", "throttle.hardware_thermal.1": "12.5",
		"throttle.power_brake.1": "0",
	}, "percent of 8 readings")
}

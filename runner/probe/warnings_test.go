package probe

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema"
)

func TestWarnings(t *testing.T) {
	env := schema.Env{
		CPUCount: new(int64(2)), GPUCount: new(int64(2)),
		Facts: map[string]string{"gpu.0.uuid": "GPU-a", "gpu.1.uuid": "GPU-b", "gpu.0.foreign": "7", "gpu.0.throttle": "thermal"},
	}
	for _, c := range []struct {
		facts, governor, devices, want string
	}{
		{"", "", "", ""},
		{"load.1m=2", "performance", "", ""},
		{"load.1m=2.01", "powersave", "", "governor load"},
		{"cpu.throttles=0", "", "", ""},
		{"cpu.throttles=1", "", "cpu", "throttled"},
		{"gpu.0.foreign=none;gpu.0.throttle=none", "", "", ""},
		{"gpu.1.foreign=4711;gpu.1.throttle=power_cap", "", "", "foreign_gpu throttled"},
		{"gpu.1.foreign=4711;gpu.1.throttle=power_cap", "", "gpu-b", "foreign_gpu throttled"},
		{"gpu.1.foreign=4711;gpu.1.throttle=power_cap", "", "gpu-a", ""},
		{"gpu.1.foreign=4711;gpu.1.throttle=power_cap", "", "cpu", ""},
		{"gpu.0.throttled_power=10000000;gpu.0.throttled_thermal=0", "", "", ""},
		{"gpu.0.throttled_power=10000001", "", "", "throttled"},
		{"gpu.0.throttled_thermal=10000001", "", "", "throttled"},
	} {
		env.Facts["cpu.governor"] = c.governor
		var devices []string
		if c.devices != "" {
			devices = []string{c.devices}
		}
		if got := strings.Join(Warnings(env, pairs(c.facts), devices), " "); got != c.want {
			t.Errorf("%+v: got %q", c, got)
		}
	}
	if got := Warnings(schema.Env{}, map[string]string{"load.1m": "99"}, nil); len(got) > 0 {
		t.Errorf("a load on unknown processors: %v", got)
	}
}

// pairs reads name=value, separated by semicolons.
func pairs(text string) map[string]string {
	facts := map[string]string{}
	for pair := range strings.SplitSeq(text, ";") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			facts[name] = value
		}
	}
	return facts
}

func TestBetween(t *testing.T) {
	for _, c := range [][3]string{
		{"load.1m=1;cpu.frequency=3000", "load.1m=5", "load.1m=1;cpu.frequency=3000"}, // the state at the beginning
		{"cpu.throttles.total=3", "cpu.throttles.total=5", "cpu.throttles=2"},
		{"cpu.throttles.total=3", "cpu.throttles.total=3", "cpu.throttles=0"},
		{"cpu.throttles.total=3", "", ""},
		{"", "cpu.throttles.total=3", ""},
		{"cpu.throttles.total=3", "cpu.throttles.total=2", ""}, // began anew
		{"cpu.steal.total=5;cpu.time.total=100", "cpu.steal.total=8;cpu.time.total=300", "cpu.steal=1.5"},
		{"cpu.steal.total=5;cpu.time.total=100", "cpu.steal.total=5;cpu.time.total=100", ""},
		{"gpu.0.foreign=none;gpu.0.throttle=thermal", "gpu.0.foreign=9 12;gpu.0.throttle=none", "gpu.0.foreign=12 9;gpu.0.throttle=thermal"},
		{"gpu.0.foreign=none;gpu.0.clock_sm=5", "gpu.0.foreign=none;gpu.0.clock_sm=9", "gpu.0.foreign=none;gpu.0.clock_sm=5"},
		{"gpu.0.foreign=none", "gpu.watch=timeout", "gpu.0.foreign=none;gpu.watch=timeout"},
	} {
		if got, want := Between(pairs(c[0]), pairs(c[1])), pairs(c[2]); !maps.Equal(got, want) {
			t.Errorf("between %s and %s: %v, want %v", c[0], c[1], got, want)
		}
	}
}

// TestBetweenNeedsCounters: the facts of a run are the same, whether everything is read after it or only the counters.
func TestBetweenNeedsCounters(t *testing.T) {
	later := map[string]string{}
	maps.Copy(later, server)
	later["proc/loadavg"] = "9.00 9.00 9.00 1/1 1"
	later["proc/stat"] = strings.Replace(server["proc/stat"], "cpu  ", "cpu  1", 1)
	before, after := volatile(tree(server)), volatile(tree(later))
	want := Between(before, after)
	if got := Between(before, counters(tree(later))); !maps.Equal(got, want) || want["cpu.steal"] == "" || want["cpu.throttles"] == "" {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestWhatIsVolatile(t *testing.T) {
	host := volatile(tree(server))
	for name := range Between(host, host) {
		if !IsVolatile(name) {
			t.Errorf("%s is not volatile", name)
		}
	}
	for _, name := range []string{"cpu.governor", "gpu.0.name", "gpu.0.power_limit", "memory.swap", "power.battery"} {
		if IsVolatile(name) {
			t.Errorf("%s is volatile", name)
		}
	}
}

func TestForeign(t *testing.T) {
	root := tree(map[string]string{
		"proc/10/stat": "10 (neurolens) S 1 0",
		"proc/11/stat": "11 (worker) S 10 0",
		"proc/12/stat": "12 (a) b) S 10 (x) S 11 0",
		"proc/20/stat": "20 (python3) S 1 0",
		"proc/30/stat": "30 (loop) S 31 0",
		"proc/31/stat": "31 (loop) S 30 0",
		"proc/40/stat": "40",
	})
	for _, c := range []struct {
		pids []int
		want string
	}{
		{nil, none},
		{[]int{10, 11, 12}, none},
		{[]int{99, 20, 11, 20}, "20 99"}, // 99 is an id of another container
		{[]int{30, 40}, "30 40"},
	} {
		if got := foreign(root, c.pids, 10); got != c.want {
			t.Errorf("%v: got %q, want %q", c.pids, got, c.want)
		}
	}
}

func TestThrottles(t *testing.T) {
	const cpu = "sys/devices/system/cpu/cpu%d/%s"
	counts := func(texts ...string) map[string]string {
		files := map[string]string{}
		for i, text := range texts {
			files[fmt.Sprintf(cpu, i, "online")] = "1"
			if text != "" {
				files[fmt.Sprintf(cpu, i, "thermal_throttle/core_throttle_count")] = text
			}
		}
		return files
	}
	for _, c := range []struct {
		files map[string]string
		want  string
		why   string
	}{
		{counts("0", "5", "2"), "7", ""},
		{counts("0", "", "2"), "2", ""}, // one is switched off
		{counts("", ""), "", absent},
		{counts("many"), "", unsupported},
		{nil, "", absent},
	} {
		f := newFacts()
		f.put("x")(throttles(tree(c.files)))
		if f.known["x"] != c.want || f.missing["x"] != c.why {
			t.Errorf("%v: %q, missing %q", c.files, f.known["x"], f.missing["x"])
		}
	}
}

func TestBattery(t *testing.T) {
	const dir = "sys/class/power_supply/"
	for _, c := range []struct {
		files map[string]string
		want  string
		why   string
	}{
		{map[string]string{dir + "AC/type": "Mains"}, none, ""},
		{map[string]string{dir + "BAT0/type": "Battery", dir + "BAT0/status": "Full"}, "full", ""},
		{map[string]string{
			dir + "BAT0/type": "Battery", dir + "BAT0/status": "Discharging",
			dir + "BAT1/type": "Battery", dir + "BAT1/status": "Full",
		}, "discharging", ""},
		{map[string]string{dir + "mouse/type": "Battery", dir + "mouse/scope": "Device", dir + "mouse/status": "Discharging"}, none, ""},
		{nil, "", absent},
	} {
		f := newFacts()
		f.put("x")(battery(tree(c.files)))
		if f.known["x"] != c.want || f.missing["x"] != c.why {
			t.Errorf("%v: %q, missing %q", c.files, f.known["x"], f.missing["x"])
		}
	}
}

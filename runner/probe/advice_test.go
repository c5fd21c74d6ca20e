package probe

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/neurolens/neurolens/runner/counter"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// quiet returns a machine that is fine to measure on, but for what nobody can know.
func quiet() schema.Env {
	return schema.Env{
		CPUCount: new(int64(8)), MemoryBytes: new(int64(16 << 30)), GPUCount: new(int64(1)),
		Facts: map[string]string{
			"cpu.governor": "performance", "cpu.boost": "false", "cpu.smt": "false", "aslr": "0", "thp": "madvise",
			"numa.balancing": "0", "numa.nodes": "2", "clocksource": "tsc", "load.1m": "0.5", "psi.cpu_some_avg10": "0",
			"memory.swap_used": "0", "cpu.throttles_since_boot": "0", "power.battery": "none", "virtualization": "none",
			"cpu.steal_since_boot": "0", "cgroup.cpu_max": "max", "cgroup.memory_max": "max", "cpu.affinity": "0-7",
			"gpu.0.persistence": "true", "gpu.0.foreign": "none", "gpu.0.throttle": "none", "gpu.0.clock_sm": "345",
			"gpu.0.clock_sm_max": "1980", "gpu.0.power_limit": "700000", "gpu.0.power_limit_default": "700000",
		},
		Missing: map[string]string{},
	}
}

func advice(t *testing.T, env schema.Env, check string) Advice {
	t.Helper()
	all := Advise(env)
	i := slices.IndexFunc(all, func(a Advice) bool { return a.Check == check })
	if i < 0 {
		t.Fatalf("there is no check %s", check)
	}
	return all[i]
}

func TestAQuietMachineIsFine(t *testing.T) {
	for _, a := range Advise(quiet()) {
		switch {
		case a.Check == "gpu.0.clocks":
			want := Advice{
				Check: "gpu.0.clocks", State: StateUnknown, Value: "345 of 1980 MHz", Missing: unsupported, Why: a.Why,
				Command: "sudo nvidia-smi -i 0 --lock-gpu-clocks=tdp,tdp",
			}
			if a != want || a.Why == "" {
				t.Errorf("got %+v, want %+v", a, want)
			}
		case a.State != StateOK || a.Value == "" || a.Missing+a.Why+a.Command+a.Remedy+a.Tune != "":
			t.Errorf("%+v", a)
		}
	}
}

// Of an empty manifest nothing is known, and so nothing is fine.
func TestNothingKnownIsNotFine(t *testing.T) {
	env := schema.Env{GPUCount: new(int64(1)), Missing: map[string]string{"aslr": permission}}
	for _, a := range Advise(env) {
		want := unsupported
		if a.Check == "aslr" {
			want = permission
		}
		if a.State != StateUnknown || a.Missing != want || a.Value != "" || a.Why == "" || a.Command+a.Remedy != "" {
			t.Errorf("%+v", a)
		}
	}
	if a := advice(t, schema.Env{Missing: map[string]string{"gpu": timeout}}, "gpu"); a.State != StateUnknown || a.Missing != timeout {
		t.Errorf("a driver that hangs: %+v", a)
	}
	for _, a := range Advise(schema.Env{Missing: map[string]string{"gpu": absent}}) {
		if strings.HasPrefix(a.Check, "gpu") {
			t.Errorf("a machine without a driver: %+v", a)
		}
	}
}

func TestAdvise(t *testing.T) {
	for _, c := range []struct {
		check  string
		facts  string // that differ: name=value, separated by semicolons
		state  string
		value  string
		remedy string // the beginning of the command, or of what to do in its place
	}{
		{"governor", "cpu.governor=performance,powersave", StateAdvice, "performance,powersave", "sudo cpupower"},
		{"boost", "cpu.boost=true;cpu.scaling_driver=amd-pstate", StateAdvice, "on", "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"},
		{"boost", "cpu.boost=true;cpu.scaling_driver=intel_pstate", StateAdvice, "on", "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate"},
		{"smt", "cpu.smt=true", StateAdvice, "on", "echo off"},
		{"smt", "cpu.smt=true;virtualization=kvm", StateAdvice, "on", "echo off"},
		{"smt", "virtualization=kvm", StateUnknown, "", ""},
		{"aslr", "aslr=2", StateAdvice, "on", "setarch -R"},
		{"aslr", "aslr=2;aslr.process=true", StateAdvice, "on", "setarch -R"},
		{"aslr", "aslr=2;aslr.process=false", StateOK, "off", ""},
		{"thp", "thp=always", StateAdvice, "always", "echo madvise"},
		{"thp", "thp=never", StateOK, "never", ""},
		{"numa_balancing", "numa.balancing=1", StateAdvice, "1", "echo 0"},
		{"numa_balancing", "numa.balancing=1;numa.nodes=1", StateOK, "1", ""},
		{"clocksource", "clocksource=hpet", StateAdvice, "hpet", "echo tsc"},
		{"clocksource", "clocksource=kvm-clock", StateOK, "kvm-clock", ""},
		{"load", "load.1m=0.81", StateAdvice, "0.81 on 8 processors", "ps "},
		{"load", "load.1m=0.8", StateOK, "0.8 on 8 processors", ""},
		{"load", "load.1m=much", StateUnknown, "much", ""},
		{"pressure", "psi.memory_some_avg10=5.5", StateAdvice, "cpu 0 %, memory 5.5 % of 10 s", "ps "},
		{"pressure", "psi.cpu_some_avg10=;psi.io_some_avg10=5", StateOK, "io 5 % of 10 s", ""},
		{"swap", "memory.swap_used=1073741824", StateAdvice, "1.00 GiB", "sudo swapoff"},
		{"swap", "memory.swap_used=104857600", StateOK, "100 MiB", ""},
		{"throttling", "cpu.throttles_since_boot=3", StateAdvice, "3 times since the start", "no command helps: improve"},
		{"battery", "power.battery=discharging", StateAdvice, "discharging", "no command helps: plug"},
		{"battery", "power.battery=full", StateOK, "full", ""},
		{"virtualization", "virtualization=kvm", StateAdvice, "kvm", "no command helps: compare"},
		{"steal", "cpu.steal_since_boot=1.234", StateAdvice, "1.2 % since the start", "only the host"},
		{"cpu_limit", "cgroup.cpu_max=1.5", StateAdvice, "1.5 processors", "no command inside"},
		{"cpu_limit", "cgroup.cpu_max=8", StateOK, "8 processors", ""},
		{"memory_limit", "cgroup.memory_max=1073741824", StateAdvice, "1.00 GiB", "no command inside"},
		{"affinity", "cpu.affinity=2-3", StateAdvice, "2 of 8 processors", "export OMP_NUM_THREADS=2"},
		{"affinity", "cpu.affinity=2-3;env.OMP_NUM_THREADS=2", StateOK, "2 of 8 processors", ""},
		{"gpu.0.persistence", "gpu.0.persistence=false", StateAdvice, "off", "sudo nvidia-smi -i 0 -pm 1"},
		{"gpu.0.processes", "gpu.0.foreign=12 345", StateAdvice, "12 345", "nvidia-smi -i 0 --query-compute-apps"},
		{"gpu.0.throttle", "gpu.0.throttle=thermal", StateAdvice, "thermal", "nvidia-smi -i 0 -q -d PERF"},
		{"gpu.0.clocks", "gpu.0.clock_sm_max=", StateUnknown, "345 MHz", "sudo nvidia-smi -i 0 --lock-gpu-clocks"},
		{"gpu.0.power_limit", "gpu.0.power_limit=500000", StateAdvice, "500 W of 700 W", "sudo nvidia-smi -i 0 -pl 700"},
	} {
		env := quiet()
		for pair := range strings.SplitSeq(c.facts, ";") {
			name, value, _ := strings.Cut(pair, "=")
			env.Facts[name] = value
		}
		a := advice(t, env, c.check)
		remedy := a.Command + a.Remedy
		if a.State != c.state || a.Value != c.value || !strings.HasPrefix(remedy, c.remedy) || (remedy == "") != (c.remedy == "") {
			t.Errorf("%s with %s: %+v, want %s", c.check, c.facts, a, c.remedy)
		}
		valuetest.DeepEqual(t, a.Why == "", a.State == StateOK, c.check, c.facts, a.Why)
	}
}

// pasted are the words that a command of the doctor may begin with: programs, and what a shell does itself.
var pasted = []string{"echo", "export", "nvidia-smi", "ps", "setarch", "sudo cpupower", "sudo nvidia-smi", "sudo swapoff"}

// TestAdviceCanBePasted: each piece of advice is either a command without anything to fill in, or it says why there is none and
// what to do. The checks that make their command of what they saw are asked for each of their answers.
func TestAdviceCanBePasted(t *testing.T) {
	seen := map[string]bool{}
	check := func(name, command, remedy string) {
		begins := func(word string) bool { return command == word || strings.HasPrefix(command, word+" ") }
		switch {
		case command != "" && remedy != "":
			t.Errorf("%s has a command and does without: %s; %s", name, command, remedy)
		case command != "" && !slices.ContainsFunc(pasted, begins):
			t.Errorf("%s: %q begins with no program of the list", name, command)
		case regexp.MustCompile(`\b(SWEEP|REF|FILE|NAME|PID)\b|[{}<>\n]`).MatchString(strings.ReplaceAll(command, "{gpu}", "0")):
			t.Errorf("%s: in %q something is to be filled in", name, command)
		case command == "" && !regexp.MustCompile(`^(no command|only the host) .*: .`).MatchString(remedy):
			t.Errorf("%s: without a command, %q does not say why and what to do", name, remedy)
		}
		seen[name] = true
	}
	for _, c := range slices.Concat(hostChecks, deviceChecks) {
		if c.command+c.remedy != "" {
			check(c.name, c.command, c.remedy)
		}
	}
	for name, facts := range map[string]map[string]string{
		"boost":             {"cpu.boost": "true", "cpu.scaling_driver": "intel_pstate"},
		"affinity":          {"cpu.affinity": "2-3"},
		"gpu.0.clocks":      {},
		"gpu.0.power_limit": {"gpu.0.power_limit": "500000"},
	} {
		env := quiet()
		maps.Copy(env.Facts, facts)
		a := advice(t, env, name)
		check(strings.TrimPrefix(a.Check, "gpu.0."), a.Command, a.Remedy)
	}
	for _, c := range slices.Concat(hostChecks, deviceChecks) {
		if !seen[c.name] {
			t.Errorf("%s advises nothing that was looked at", c.name)
		}
	}
}

// What is shown indented by four columns fits a terminal of 80, so that a command can be copied from it.
func TestAdviceIsShort(t *testing.T) {
	for _, c := range slices.Concat(hostChecks, deviceChecks) {
		for _, text := range []string{c.why, strings.ReplaceAll(c.command, "{gpu}", "15"), c.remedy} {
			if n := utf8.RuneCountInString(text); n > 76 {
				t.Errorf("%s: %d letters: %s", c.name, n, text)
			}
		}
	}
}

func FuzzAdvise(f *testing.F) {
	f.Add("1")
	f.Add("-0x1p9")
	names := slices.Sorted(maps.Keys(quiet().Facts))
	f.Fuzz(func(t *testing.T, value string) {
		env := quiet()
		for _, name := range names {
			env.Facts[name] = value
		}
		for _, a := range Advise(env) {
			if !slices.Contains([]string{StateOK, StateAdvice, StateUnknown}, a.State) || (a.Missing == "") == (a.State == StateUnknown) {
				t.Errorf("%q: %+v", value, a)
			}
		}
	})
}

func TestAdviseKnowsWhatReadReads(t *testing.T) {
	env := Read(t.Context(), Options{Root: tree(server), Dir: t.TempDir(), GPU: func(context.Context) Devices {
		return Devices{Missing: map[string]string{"gpu": absent}}
	}})
	got := map[string]string{}
	for _, a := range Advise(env) {
		got[a.Check] = a.State
	}
	want := map[string]string{
		"governor": StateAdvice, "boost": StateOK, "smt": StateAdvice, "aslr": StateOK, "thp": StateOK,
		"numa_balancing": StateUnknown, "clocksource": StateUnknown, "load": StateOK, "pressure": StateOK, "swap": StateOK,
		"throttling": StateAdvice, "battery": StateOK, "virtualization": StateAdvice, "steal": StateAdvice,
		"cpu_limit": StateAdvice, "memory_limit": StateAdvice, "affinity": StateAdvice,
	}
	valuetest.DeepEqual(t, got, want)
}

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
		{"throttle.power_cap=1;throttle.thermal.1=0", "", "", ""},
		{"throttle.power_cap=0;throttle.thermal.1=1.001", "", "cpu", "throttled"},
	} {
		env.Facts["cpu.governor"] = c.governor
		var devices []string
		if c.devices != "" {
			devices = []string{c.devices}
		}
		valuetest.DeepEqual(t, strings.Join(Warnings(env, pairs(c.facts), devices), " "), c.want, c)
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
		valuetest.DeepEqual(t, Between(pairs(c[0]), pairs(c[1])), pairs(c[2]), "between", c[0], c[1])
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
		valuetest.DeepEqual(t, foreign(root, c.pids, 10), c.want, c.pids)
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

// TestAdviseCounters: events that cannot be counted have a command where one helps.
func TestAdviseCounters(t *testing.T) {
	for _, c := range []struct {
		counters []counter.Counter
		want     Advice
	}{
		{[]counter.Counter{{Name: "cycles"}, {Name: "page_faults"}}, Advice{Check: "counters", State: StateOK, Value: "cycles page_faults"}},
		{
			[]counter.Counter{{Name: "cycles", Missing: "absent: no PMU"}, {Name: "page_faults"}},
			Advice{Check: "counters", State: StateAdvice, Value: "page_faults", Why: "bench --counters cannot count cycles", Remedy: "no command helps: no PMU"},
		},
		{
			[]counter.Counter{{Name: "cycles", Missing: "absent: no PMU"}, {Name: "page_faults", Missing: "permission: sudo sysctl x=1"}},
			Advice{Check: "counters", State: StateAdvice, Value: none, Why: "bench --counters cannot count cycles, page_faults", Command: "sudo sysctl x=1"},
		},
		{
			[]counter.Counter{{Name: "page_faults", UserOnly: true}},
			Advice{
				Check: "counters", State: StateAdvice, Value: "page_faults", Why: "bench --counters leaves out what happens in the kernel",
				Command: "sudo sysctl kernel.perf_event_paranoid=1",
			},
		},
	} {
		valuetest.Equal(t, AdviseCounters(c.counters), c.want)
	}
}

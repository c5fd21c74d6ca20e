package probe

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"
)

func TestParsers(t *testing.T) {
	for _, c := range []struct {
		name  string
		parse func(string) (string, error)
		text  string
		want  string // empty: refused
	}{
		{"integer", integer, "-1", "-1"},
		{"integer", integer, "many", ""},
		{"flag", flag, "2", ""},
		{"inverted", inverted, "0", "true"},
		{"inverted", inverted, "no", ""},
		{"chosen", chosen, "always madvise [never]", "never"},
		{"chosen", chosen, "always", ""},
		{"kilohertz", kilohertz, "3540500", "3540.5"},
		{"kilohertz", kilohertz, "<unknown>", ""},
		{"number", number, "NaN", ""},
		{"number", number, "+Inf", ""},
		{"pressure", pressure, "full avg10=1.0", ""},
		{"pressure", pressure, "some avg10=0.00 avg60=1.00", "0"},
		{"size", size, "512", "512"},
		{"size", size, "1G", "1073741824"},
		{"size", size, "1KK", ""},
		{"size", size, "9223372036854775807K", ""},
		{"size", size, "-1K", ""},
		{"distribution", distribution, "NAME=x\nPRETTY_NAME='y z'\n", "y z"},
		{"listLength", listLength, "0-3,8,10-11", "7"},
		{"listLength", listLength, "3-0", ""},
		{"listLength", listLength, "0-99999999", ""},
		{"listLength", listLength, "", ""},
		{"status", status("A"), "B:\t1\nA:\t2\n", "2"},
		{"status", status("A"), "AB:\t1\n", ""},
		{"swapUsed", swapUsed, "SwapTotal: 8 kB\nSwapFree: 5 kB\n", "3072"},
		{"swapUsed", swapUsed, "SwapTotal: 8 kB\nSwapFree: 9 kB\n", ""},
		{"swapUsed", swapUsed, "SwapTotal: 8 kB\n", ""},
		{"randomized", randomized, "00000000", "true"},
		{"randomized", randomized, "00440000", "false"},
		{"randomized", randomized, "z", ""},
		{"stolenShare", stolenShare, "cpu  1 0 0 998 0 0 0 1 7 7\n", "0.1"},
		{"stolenShare", stolenShare, "cpu  0 0 0 0 0 0 0 0 0 0\n", ""},
		{"stolenShare", stolenShare, "cpu  1 0 0 998 0 0\n", ""},
		{"stolenShare", stolenShare, "cpu  1 0 0 -998 0 0 0 1 7 7\n", ""},
	} {
		got, err := c.parse(c.text)
		if err != nil {
			got = ""
		}
		if got != c.want {
			t.Errorf("%s(%q) = %q, %v, want %q", c.name, c.text, got, err, c.want)
		}
	}
}

func TestScrub(t *testing.T) {
	for _, c := range [][3]string{
		{"OMP_NUM_THREADS", "4", "4"},
		{"NCCL_AUTH_TOKEN", "4", hidden},
		{"TORCH_API_KEY", "4", hidden},
		{"TORCH_MONKEY", "4", "4"},
		{"XLA_FLAGS", "--dump_to=https://me:pw@host/x --k=2", "--dump_to=https://<hidden>@host/x --k=2"},
		{"TORCH_HOME", "/a/hf_abcdefghijklmnopqrstuvwx/b", "/a/<hidden>/b"},
		{"LD_LIBRARY_PATH", "/opt/sk-learn/lib", "/opt/sk-learn/lib"},
	} {
		if got := scrub(c[0], c[1]); got != c[2] {
			t.Errorf("scrub(%s, %s) = %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestARMProcessorHasAName(t *testing.T) {
	env := readTree(t, tree(map[string]string{
		"proc/cpuinfo": "processor\t: 0\nFeatures\t: fp asimd sve\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n",
	}))
	if want := "ARM implementer 0x41 part 0xd40"; env.CPUModel != want || env.Facts["cpu.isa"] != "asimd sve" {
		t.Errorf("model %q, isa %q, want %q", env.CPUModel, env.Facts["cpu.isa"], want)
	}
	if env.Missing["virtualization"] != unsupported {
		t.Errorf("virtualization: %q, want %s", env.Missing["virtualization"], unsupported)
	}
}

// FuzzHost gives every file the same content. Each fact has to be a clean text or a reason, never both.
func FuzzHost(f *testing.F) {
	paths := slices.Sorted(maps.Keys(server))
	for _, text := range server {
		f.Add([]byte(text))
	}
	f.Add([]byte("0::/../../..\n1:cpu:\n:::"))
	f.Fuzz(func(t *testing.T, content []byte) {
		root := fstest.MapFS{}
		for _, path := range paths {
			root[path] = &fstest.MapFile{Data: content}
		}
		facts := newFacts()
		readHost(Options{Root: root, Environ: []string{"OMP_X=" + string(content), "KUBERNETES=1"}}, facts)
		readMachine("", facts)
		facts.env()
		for name, value := range facts.known {
			if value == "" || value != strings.TrimSpace(value) || !utf8.ValidString(value) || len(value) > longest {
				t.Errorf("%s = %q", name, value)
			}
			if why, both := facts.missing[name]; both {
				t.Errorf("%s = %q and missing, %s", name, value, why)
			}
		}
		for name, why := range facts.missing {
			if !slices.Contains([]string{absent, permission, unsupported, timeout}, why) {
				t.Errorf("%s is missing for %q", name, why)
			}
		}
	})
}

func FuzzCPUList(f *testing.F) {
	f.Add("0-3,8")
	f.Add("0-65535,0-65535,0-65535")
	f.Fuzz(func(t *testing.T, text string) {
		cpus, err := cpuList(text)
		if err == nil && (len(cpus) == 0 || len(cpus) > 2*maxCPUs) {
			t.Errorf("%q: %d processors", text, len(cpus))
		}
	})
}

func FuzzDevices(f *testing.F) {
	f.Add([]byte(`{"facts":{"gpu.count":"1","gpu.0.name":"H100"},"missing":{"gpu.0.mig":"unsupported"}}`))
	f.Add([]byte(`{"facts":null} {}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		devices, err := parseDevices(document)
		if err != nil {
			return
		}
		for name := range devices.Facts {
			if !strings.HasPrefix(name, "gpu") {
				t.Errorf("fact %q accepted", name)
			}
		}
	})
}

package sweep

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// under are defaults of a project, of this text.
func under(t *testing.T, text string) Defaults {
	t.Helper()
	keys, err := Load("neurolens.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return Defaults{Layer: LayerProject, Name: "neurolens.yaml", Lines: true, Keys: keys}
}

// ofVariable is the default that a variable is.
func ofVariable(key, text string) Defaults {
	return Defaults{Layer: LayerEnvironment, Name: "NEUROLENS_PYTHON", Keys: &yaml.Node{
		Kind: yaml.MappingNode, Tag: "!!map",
		Content: []*yaml.Node{Verbatim(key, 0), Verbatim(text, 0)},
	}}
}

// TestOutsideDefaults: what is said outside of a sweep holds where nothing in it or on the command line says something else.
func TestOutsideDefaults(t *testing.T) {
	project := under(t, "python: theirs\nwarmup: 3\nthresholds: {latency: 5%, energy: 7%}")
	s := parse(t, "file: x.py\nbenchmarks: {a: , b: {warmup: 4}}\nthresholds: {latency: 1%}", Overrides{Defaults: []Defaults{project}})
	a, b := s.Points[0], s.Points[1]
	equal(t, []any{a.Python, a.Warmup, b.Warmup, a.PythonLine}, []any{"theirs", 3, 4, 0})
	equal(t, a.Thresholds, map[string]string{"latency": "1%", "energy": "7%"})
	equal(t, []string{a.Origins["warmup"], b.Origins["warmup"]}, []string{"project", "benchmark"})

	o := Overrides{Defaults: []Defaults{project, ofVariable("python", "of{braces}")}}
	equal(t, parse(t, "file: x.py", o).Points[0].Python, "of{braces}")
	equal(t, parse(t, "file: x.py\npython: own", o).Points[0].Python, "own")
	o.Given = map[string]string{"python": "typed", "warmup": "9"}
	p := parse(t, "file: x.py\npython: own", o).Points[0]
	equal(t, []any{p.Python, p.Warmup, p.Origins["warmup"]}, []any{"typed", 9, "flag"})

	// It is not said of this sweep: what nothing in it takes is passed over.
	equal(t, parse(t, "command: [x]", Overrides{Defaults: []Defaults{under(t, "python: theirs\ntiming: triton")}}).Points[0].Python, "")

	equal(t, parse(t, "file: x.py\ncold_start: true", Overrides{Defaults: []Defaults{project}}).Points[0].Warmup, 0)

	for text, want := range map[string]string{
		"warmup: 3\nrepeats: many":           "neurolens.yaml:2: repeats: want",
		"thresholds:\n  latency: {abs: 3 B}": "neurolens.yaml:2: thresholds.latency.abs: latency is in ns, not in B",
	} {
		_, err := readText("sweep.yaml", []byte("file: x.py"), Overrides{Defaults: []Defaults{under(t, text)}})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// TestOutsideDefaultsRefuseNothing: a sweep that can be read can be read in every project.
func TestOutsideDefaultsRefuseNothing(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(fixtures, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	all := Overrides{}
	for _, key := range DefaultKeys() {
		value := map[string]string{"order": "random", "timing": "perf_counter", "python": "theirs"}[key]
		if value == "" {
			value = "3"
		}
		all.Defaults = append(all.Defaults, under(t, key+": "+value))
	}
	read := 0
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readText(path, text, Overrides{}); err != nil {
			continue // it is one of those that are to be refused
		}
		read++
		if _, err := readText(path, text, all); err != nil {
			t.Error(err)
		}
	}
	if read == 0 {
		t.Error("no sweep was read")
	}
	for _, text := range []string{
		"file: x.py\nrel_error: 1%", "file: x.py\ncold_start: true", "command: [x]\nmetrics: {m: {regex: a}}", "file: x.py\niterations: 3", tiny,
		"file: x.py\ntiming: torch_timer\nmin_run_time: 1s", "command: [x]\nbudget: 1s\ntimeouts: {measure: 10s}", "command: [x]\ncalibrate: true",
		"file: x.py\niterations: max(1, n)\ngrid: {n: [1, 2]}", "backend: onnxrt\nmodel: a.onnx\ncold_start: true",
		"file: x.py\niterations_per_sample: 4", "file: x.py\nrel_error: 1%\nmax_repeats: 9", "file: x.py\nwarmup: 0\ngrid: {repeats: 2, n: 1}", "command: a | b\nshell: true",
	} {
		if _, err := readText("sweep.yaml", []byte(text), Overrides{}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := readText("sweep.yaml", []byte(text), all); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

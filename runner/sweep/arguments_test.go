package sweep

import (
	"slices"
	"strings"
	"testing"
)

const withArguments = `benchmark: train
wrapper: [env, "{backend}"]
command: [prog, "--on={backend}", "{backend}", "{n}"]
build: [[make, "{backend}", all]]
grid:
  backend: {cpu: [], mps: [--mps], fast: [--mps, "-O 3"]}
  n: {1: -n1, 2: [-n, 2]}
`

// TestArguments: a value of a map stands for its arguments where it is a word of a command, and for itself elsewhere.
func TestArguments(t *testing.T) {
	s, err := readText("s.yaml", []byte(withArguments), Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for i := range s.Points {
		p := &s.Points[i]
		got[p.Backend+" "+p.Params["n"]] = strings.Join(p.Command, "|") + " after " + strings.Join(p.Build[0], "|")
	}
	want := map[string]string{
		"cpu 1":  "env|prog|--on=cpu|-n1 after make|all",
		"cpu 2":  "env|prog|--on=cpu|-n|2 after make|all",
		"mps 1":  "env|--mps|prog|--on=mps|--mps|-n1 after make|--mps|all",
		"mps 2":  "env|--mps|prog|--on=mps|--mps|-n|2 after make|--mps|all",
		"fast 1": "env|--mps|-O 3|prog|--on=fast|--mps|-O 3|-n1 after make|--mps|-O 3|all",
		"fast 2": "env|--mps|-O 3|prog|--on=fast|--mps|-O 3|-n|2 after make|--mps|-O 3|all",
	}
	for key, text := range want {
		if got[key] != text {
			t.Errorf("%s: got %s, want %s", key, got[key], text)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d points, want %d", len(got), len(want))
	}
}

// TestArgumentsChosen: the command line and include name values, and do not lose their arguments.
func TestArgumentsChosen(t *testing.T) {
	src := withArguments + "include: [{backend: mps, n: 2, m: 1}]\n"
	s, err := readText("s.yaml", []byte(strings.Replace(src, ", m: 1", "", 1)), Overrides{Params: map[string]string{"backend": "mps"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Points) != 2 || !slices.Contains(s.Points[0].Command, "--mps") {
		t.Errorf("got %d points, the first with %q", len(s.Points), s.Points[0].Command)
	}
	_, err = readText("s.yaml", []byte(withArguments), Overrides{Params: map[string]string{"backend": "msp"}})
	if err == nil || err.Error() != `-P backend: "msp" has no arguments in the sweep: did you mean mps?` {
		t.Errorf("got %v", err)
	}
}

// TestListParameter: a list is a value of a parameter.
func TestListParameter(t *testing.T) {
	s, err := readText("s.yaml", []byte("command: [prog, \"{shape}\"]\nparams: {shape: [1, 2.0]}\n"), Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Points[0]; len(s.Points) != 1 || p.Params["shape"] != "[1,2]" || p.Command[1] != "[1,2.0]" {
		t.Errorf("got %d points, the first with %v and %q", len(s.Points), p.Params, p.Command)
	}
}

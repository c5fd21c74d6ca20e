package progress

import (
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/schema"
)

// TestPlanNamesChangedFiles: where the working tree is another one, the files are named, and not its hash.
func TestPlanNamesChangedFiles(t *testing.T) {
	lines := planLines(&runner.Plan{Changes: []runner.Change{
		{What: "git.tree", From: "b491", To: "7d27", Files: "a.py, b.py, c.py, d.py, e.py", Runs: 4},
		{What: "driver_version", From: "1", To: "2", Runs: 1},
		{What: schema.FactConfig, From: "a", To: "b", Runs: 2},
		{What: "runner.iterations", From: "2", To: "3", Runs: 1},
		{What: "command.sha256.b.sh", From: "a", To: "b", Runs: 1},
		{What: schema.FactConfig, From: "c", To: "d", Runs: 3},
	}})
	want := []string{
		"changed: a.py, b.py, c.py, and 2 more: 4 runs to repeat (a file that git ignores is no code)",
		"driver_version changed from 1 to 2: 1 run to repeat",
		"a setting without a stored value (such as env) changed: 5 runs to repeat",
		"iterations changed from 2 to 3: 1 run to repeat",
		"b.sh changed: 1 run to repeat",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
}

// TestPlanNamesSecrets: a warning names the secrets that are stored because they are part of the name of a point.
func TestPlanNamesSecrets(t *testing.T) {
	t.Parallel()
	lines := planLines(&runner.Plan{Secrets: []string{"api-key=<hidden>", "variant=./p --token=<hidden>"}})
	want := []string{"warning: stored with the runs, because it names what is measured: api-key=<hidden> and 1 more: it looks like a secret, pass it in the environment"}
	if !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
}

// TestFilledName: the value of a parameter is text, also where it has braces.
func TestFilledName(t *testing.T) {
	t.Parallel()
	for range 20 { // the order of a map is random
		if got := filledName("p {a} {b} {c}", map[string]string{"a": "{b}", "b": "{a}"}); got != "p {b} {a} {c}" {
			t.Fatal(got)
		}
	}
}

// TestGoesOn: the message about the rest of a session is what the same command does.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	done := func(string) ([]schema.Run, error) { return nil, nil }
	for want, o := range map[string]runner.Options{
		"the same command continues":                                          {Done: done},
		"the same command without --rerun all continues":                      {Done: done, Rerun: runner.RerunAll},
		"the same command starts over, because --against measures both sides": {Against: "main", Done: done},
		"the same command starts over; a sweep file would continue":           {},
	} {
		if got := GoesOn(o); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

package runner

import (
	"slices"
	"testing"

	"github.com/neurolens/neurolens/schema"
)

// TestBuildOnce: a command runs once for all points at which it reads the same, whatever env says of their axes. It
// sees the variables without one.
func TestBuildOnce(t *testing.T) {
	s := parse(t, `benchmark: b
build:
  - [sh, -c, 'test "$FLAGS $N" = "-O2 none"']
  - [echo, "{n}"]
command: [sh, -c, 'test "$FLAGS $N" = "-O2 {k}"']
env: {FLAGS: -O2, N: "{k}"}
grid: {n: [1, 2], k: [3, 4]}
repeats: 1
warmup: 0
iterations: 1
`)
	t.Setenv("N", "none")
	var built []string
	result, err := Run(t.Context(), s, Options{Locks: t.TempDir(), Observe: func(e Event) {
		if e.Build != nil {
			built = append(built, e.Build[len(e.Build)-1])
		}
	}}, func(r schema.Run) error {
		if r.Status != schema.StatusOK {
			t.Errorf("%s: %s", r.Status, r.Error)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{`test "$FLAGS $N" = "-O2 none"`, "1", "2"}; !slices.Equal(built, want) || result.Runs() != 4 {
		t.Errorf("built %q, want %q; %d runs", built, want, result.Runs())
	}
}

// TestOptionalBuild: where the program of a build is not there, an optional point is skipped; one that fails is an error all the same.
func TestOptionalBuild(t *testing.T) {
	for text, want := range map[string]schema.Status{
		"build: [[no-such-compiler]]\noptional: true": schema.StatusSkipped,
		"build: [[no-such-compiler]]":                 schema.StatusError,
		"build: [['false']]\noptional: true":          schema.StatusError,
	} {
		s := parse(t, "command: ['true']\nrepeats: 1\nwarmup: 0\niterations: 1\n"+text+"\n")
		_, err := Run(t.Context(), s, Options{Locks: t.TempDir()}, func(r schema.Run) error {
			if r.Status != want || r.Stage != schema.StageBuild && want == schema.StatusError {
				t.Errorf("%s: %s in %s: %s", text, r.Status, r.Stage, r.Error)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

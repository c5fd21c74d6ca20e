package prepare

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/neurolens/neurolens/runner/sweep"
)

// TestAbsent: what a point needs and one side lacks. What both lack is left to the launch, which says it better.
func TestAbsent(t *testing.T) {
	base, head := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(base, "both"), filepath.Join(head, "both"), filepath.Join(head, "new"), filepath.Join(head, "dir", "in")} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := New(Options{Sweep: &sweep.Sweep{}, Sides: []Side{{Name: "base", Dir: base}, {Name: "head", Dir: head}}})
	for name, c := range map[string]struct {
		point sweep.Point
		want  string // of base
	}{
		"file":                {sweep.Point{File: "new"}, "new"},
		"model":               {sweep.Point{ModelPath: "./new"}, "./new"},
		"input":               {sweep.Point{Worker: sweep.Worker{Inputs: map[string]sweep.Input{"x": {File: "new"}}}}, "new"},
		"library":             {sweep.Point{Worker: sweep.Worker{Session: &sweep.Session{Libraries: []string{"both", "new"}}}}, "new"},
		"program":             {sweep.Point{Command: []string{"./new"}}, "./new"},
		"script":              {sweep.Point{Command: []string{"sh", "-e", "new"}}, "new"},
		"in a folder":         {sweep.Point{Command: []string{"sh", "in"}, Dir: "dir"}, "in"},
		"folder":              {sweep.Point{Command: []string{"make"}, Dir: "dir"}, "dir"},
		"program of PATH":     {sweep.Point{Command: []string{"new"}}, ""},
		"absolute":            {sweep.Point{File: filepath.Join(head, "new")}, ""},
		"absolute folder":     {sweep.Point{Command: []string{"make"}, Dir: filepath.Join(head, "dir")}, ""},
		"on both":             {sweep.Point{Command: []string{"./both", "both"}}, ""},
		"on none":             {sweep.Point{Command: []string{"./none", "--to=out/x", "none"}}, ""},
		"nothing of the tree": {sweep.Point{Command: []string{"true"}}, ""},
	} {
		got := fmt.Sprint(s.absent(&c.point, 0))
		want := "<nil>"
		if c.want != "" {
			want = c.want + " does not exist on side base"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if err := s.absent(&c.point, 1); err != nil {
			t.Errorf("%s: head: %v", name, err)
		}
	}
	s.Sides[0].Dir = filepath.Join(base, "gone")
	if err := s.absent(&sweep.Point{Command: []string{"make"}}, 0); fmt.Sprint(err) != "the working directory does not exist on side base" {
		t.Error(err)
	}
}

package prepare

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/task"
)

// TestCheckOutput: a file that would be emptied before it is read is refused, by any of its names, and one without a folder.
func TestCheckOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		stdin, stdout string
		setup         []string
		want          string
	}{
		{"a", "b", nil, ""},
		{"", "a", nil, ""},
		{"a", "./a", nil, "is also the file of stdin"},
		{"a", "link", nil, "is also the file of stdin"},
		{"gone", "gone", []string{"x"}, "is also the file of stdin"},
		{os.DevNull, os.DevNull, nil, ""},
		{"", "gone/x", nil, "the folder of output gone/x"},
		{"", "gone/x", []string{"mkdir", "gone"}, ""},
		{"", ".", nil, "is a folder"},
	} {
		err := checkOutput(&task.Spec{Launch: task.Launch{Dir: dir, Stdin: c.stdin, Stdout: c.stdout, Hooks: task.Hooks{Setup: c.setup}}})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

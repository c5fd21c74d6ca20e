package bundle

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestCheckNVML: a program that does not look for NVML is refused; this one has no such library. What is no ELF file is of a system
// without NVML.
func TestCheckNVML(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := checkNVML(self); runtime.GOOS == "linux" && (err == nil || !strings.Contains(err.Error(), "does not look for NVML at run time") && !strings.Contains(err.Error(), "no symbol section")) {
		t.Errorf("a program without NVML: %v", err)
	}
	if err := checkNVML(filepath.Join(tree(t, "neurolens"), "neurolens")); err != nil {
		t.Errorf("a file that is no ELF file: %v", err)
	}
}

// TestCheckTag: a tag has to be the program's version, and the program built from it, with nothing changed.
func TestCheckTag(t *testing.T) {
	good := facts{"neurolens": "0.1.0", "tag": "v0.1.0", "commit": "9f3c1d2", "modified": "false"}
	for _, c := range []struct{ tag, fact, value, want string }{
		{"v0.1.0", "", "", ""},
		{"", "tag", "", ""},
		{"v0.2.0", "", "", "the tag is v0.2.0, and the version of the program is 0.1.0"},
		{"0.1.0", "", "", "the tag is 0.1.0, and the version of the program is 0.1.0"},
		{"v0.1.0", "tag", "v0.1.0+dirty", `the tag is v0.1.0, and the program was built from "v0.1.0+dirty"`},
		{"v0.1.0", "modified", "true", `the program was not built from a clean checkout: commit "9f3c1d2", modified "true"`},
		{"v0.1.0", "commit", "", `the program was not built from a clean checkout: commit "", modified "false"`},
	} {
		f := facts{}
		for name, value := range good {
			f[name] = value
		}
		if c.fact != "" {
			f[c.fact] = c.value
		}
		got := ""
		if err := f.check(c.tag); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

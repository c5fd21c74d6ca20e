//go:build linux

package task

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestCheckInterpreter: what is missing for a file to be started is named, and a file that starts is let through.
func TestCheckInterpreter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) {
		t.Helper()
		valuetest.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), mode))
	}
	valuetest.OK(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	file("plain", "text", 0o600)
	file("good", "#! \t /bin/sh\nexit 0\n", 0o700)
	file("crlf", "#!/bin/sh\r\nexit 0\r\n", 0o700)
	env := []string{"PATH=" + os.Getenv("PATH")}
	for name, c := range map[string]struct{ text, want string }{
		"a shell":                  {"#!/bin/sh -e\nexit 0\n", ""},
		"env":                      {"#!/usr/bin/env sh\nexit 0\n", ""},
		"env with arguments":       {"#!/usr/bin/env -S sh -e\nexit 0\n", ""},
		"env with a variable":      {"#!/usr/bin/env -S A=1 sh\nexit 0\n", ""},
		"a script of a script":     {"#!./good\n", ""},
		"no script":                {"exit 0\n", ""},
		"nothing":                  {"", ""},
		"a first line alone":       {"#!/bin/sh", ""},
		"Windows line ends":        {"#!/bin/sh\r\nexit 0\r\n", `its interpreter /bin/sh\r does not exist: the script has Windows line ends`},
		"a missing interpreter":    {"#!/no/such -x\n", "its interpreter /no/such does not exist"},
		"env of no program":        {"#!/usr/bin/env nosuch\n", "its interpreter nosuch is not on PATH"},
		"env, Windows line ends":   {"#!/usr/bin/env sh\r\n", `its interpreter sh\r is not on PATH: the script has Windows line ends`},
		"env without -S":           {"#!/usr/bin/env sh -e\n", `its interpreter "sh -e" is not on PATH: with arguments, its first line begins with #!/usr/bin/env -S`},
		"env of none, split":       {"#!/usr/bin/env -S nosuch -e\n", "its interpreter nosuch is not on PATH"},
		"one that cannot be run":   {"#!./plain\n", "its interpreter ./plain is not executable"},
		"a folder":                 {"#!./folder\n", "its interpreter ./folder is a directory"},
		"a script of a bad script": {"#!./crlf\n", `its interpreter /bin/sh\r does not exist: the script has Windows line ends`},
	} {
		t.Run(name, func(t *testing.T) {
			file("script", c.text, 0o700)
			err := CheckInterpreter("./script", dir, env)
			if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			command := exec.Command("./script")
			command.Path, command.Dir = "./script", dir // without what Go looks up
			if ran := command.Run(); c.want != "" && ran == nil {
				t.Errorf("it runs nevertheless")
			} else if c.want == "" && strings.HasPrefix(c.text, "#!") && ran != nil {
				t.Errorf("it does not run: %v", ran)
			}
		})
	}
}

// TestCheckLoader: a program whose loader is missing is told from one that is missing itself.
func TestCheckLoader(t *testing.T) {
	t.Parallel()
	program, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Skip(err)
	}
	if err := CheckInterpreter("/bin/true", "", nil); err != nil {
		t.Error(err)
	}
	loader := "/lib64/ld-linux-x86-64.so.2\x00"
	if !strings.Contains(string(program), loader) {
		t.Skip("/bin/true has another loader")
	}
	other := "/lib64/ld-other-x86-64.so.2\x00"
	path := filepath.Join(t.TempDir(), "true")
	valuetest.OK(t, os.WriteFile(path, []byte(strings.Replace(string(program), loader, other, 1)), 0o700))
	want := "its loader /lib64/ld-other-x86-64.so.2 does not exist: the program was built for another system"
	valuetest.ErrorText(t, CheckInterpreter(path, "", nil), want)
	if err := exec.Command(path).Run(); err == nil {
		t.Error("it runs nevertheless")
	}
}

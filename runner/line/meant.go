package line

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// axisMeant is the hint at how an axis is set that stands beside a sweep file.
func axisMeant(argument string) string {
	if strings.Contains(argument, "=") {
		return "; -P " + argument + " sets an axis"
	}
	return ""
}

// fileBeside asks whether another sweep of the folder was meant by a file that is not there.
func fileBeside(name string) string {
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(e.Name())) {
			names = append(names, e.Name())
		}
	}
	if near := schema.Nearest(filepath.Base(name), names); near != "" {
		return "; did you mean " + filepath.Join(filepath.Dir(name), near) + "?"
	}
	return ""
}

// wordsMeant refuses a program whose numbers stand beside it without quotes, as each would be a program of its own: sleep 1.
// Another word may be a program by the time that it is started.
func (a *Asked) wordsMeant(o *sweep.Overrides) error {
	if a.Dash >= 0 || len(a.Args) < 2 || len(o.Set) > 0 {
		return nil
	}
	for _, word := range a.Args[1:] {
		if _, err := exec.LookPath(word); err == nil || !isNumber(word) {
			continue
		}
		if o.Given["ignore_exit"] == "true" {
			return fmt.Errorf("%q is no program on PATH: write --ignore-exit=%s for that exit status", word, word)
		}
		return fmt.Errorf("%q is no program on PATH: each text is a program of its own; for one with its arguments write neurolens bench -- %s, or quotes around it",
			word, strings.Join(a.Args, " "))
	}
	return nil
}

// isNumber tells a word that is an argument and no name.
func isNumber(word string) bool { return strings.Trim(word, "0123456789.,") == "" }

package line

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

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

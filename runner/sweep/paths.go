package sweep

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// variableName is how the value of a variable is written in a shell.
var variableName = regexp.MustCompile(`^\$(\w|\{\w)`)

// ExpandPath returns a path of a file, of a variable or of a flag with the home directory in the place of a leading ~. No shell does that
// there. ~USER and a variable at the beginning are refused, because nothing replaces them: a folder of that name would be made, and removing
// it by this name in a shell would remove another one.
func ExpandPath(path string) (string, error) {
	first, rest, _ := strings.Cut(path, "/")
	switch {
	case first == "~":
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("%q begins with the home directory: %w", path, err)
		}
		return filepath.Join(home, rest), nil
	case strings.HasPrefix(first, "~"):
		return "", fmt.Errorf("want ~/ for the home directory, or ./%[1]s for a file of that name, got %[1]q", path)
	case variableName.MatchString(first):
		return "", fmt.Errorf("variables are not replaced in paths: want ~/ for the home directory, or ./%[1]s for a file of that name, got %[1]q", path)
	}
	return path, nil
}

// fillPath is fill for a text that is a path: see ExpandPath.
func (t template) fillPath(row []*value) (string, error) {
	text := t.fill(row)
	path, err := ExpandPath(text)
	if err != nil {
		return "", t.at.errorf("%v", err)
	}
	return path, nil
}

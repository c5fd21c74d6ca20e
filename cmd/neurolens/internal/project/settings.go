package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v4"
)

// projectFile holds the settings that all commands of a project share.
const (
	projectFile     = "neurolens.yaml"
	maxProjectBytes = 64 << 10
)

// Settings are what the nearest project file makes the default of variables, and its path; none where there is no such file.
func Settings(home string) (said map[string]string, path string, err error) {
	if path = nearestProject(home); path != "" {
		said, err = projectOf(path)
	}
	return said, path, err
}

// nearestProject is the project file in the working directory or the nearest one above it, as nearestStore looks for a
// store; empty where there is none.
func nearestProject(home string) string {
	if _, err := os.Lstat(projectFile); !errors.Is(err, fs.ErrNotExist) { // whatever it is, it is what is meant
		return projectFile
	}
	for above := range foldersAbove(home) {
		if path := filepath.Join(above, projectFile); isOurs(path) {
			return path
		}
	}
	return ""
}

// readSmall reads a plain file of at most maxProjectBytes.
func readSmall(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a plain file")
	case info.Size() > maxProjectBytes:
		return nil, fmt.Errorf("it has %d bytes, and the limit is %d", info.Size(), maxProjectBytes)
	}
	return os.ReadFile(path)
}

// projectOf is what a project file says, by the variables. A store is found from the file's folder.
func projectOf(path string) (map[string]string, error) {
	text, err := readSmall(path)
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	said := map[string]string{}
	if len(document.Content) == 0 {
		return said, nil
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: want keys with values", root.Line)
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		variable := variableOf(key.Value)
		switch {
		case variable == "":
			return nil, fmt.Errorf("line %d: there is no key %q; %s has store, format and machine (a sweep needs another name)", key.Line, key.Value, projectFile)
		case value.Kind != yaml.ScalarNode || value.Value == "" || value.Tag == "!!null":
			return nil, fmt.Errorf("line %d: %s: want a text", value.Line, key.Value)
		case key.Value == "store" && !filepath.IsAbs(value.Value):
			said[variable] = filepath.Join(filepath.Dir(path), value.Value)
		default:
			said[variable] = value.Value
		}
	}
	return said, nil
}

// variableOf is the variable whose default a key is; empty where there is no such key. What could start a program is no key:
// the file may be anybody's, and to list runs is safe everywhere.
func variableOf(key string) string {
	switch key {
	case "store":
		return "NEUROLENS_STORE"
	case "format":
		return "NEUROLENS_FORMAT"
	case "machine":
		return "NEUROLENS_MACHINE"
	}
	return ""
}

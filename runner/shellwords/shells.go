package shellwords

import (
	"slices"
	"strings"
)

// inShells are commands that shells have in themselves.
var inShells = strings.Fields("alias cd declare eval exec export local popd pushd read readonly set shopt source trap type ulimit umask unset wait")

// InShells reports whether a command is built into shells and is not a program.
func InShells(name string) bool { return slices.Contains(inShells, name) }

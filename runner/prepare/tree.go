package prepare

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema/lazyregexp"
)

// delimiters end a path in a text, such as a list of folders, a flag with a value, or a line of a shell.
const delimiters = ":;,=\"'`()<>|&?\t\n "

// beforePath is what may stand between a delimiter and an absolute path, as in -I/usr/include, @/tmp/list and file:///tmp/x.
var beforePath = lazyregexp.MustCompile(`^(-[A-Za-z]+|@|/*)$`)

// replacePaths replaces each absolute path into the user's working tree in a text. replace gets the name of the tree in the text, and
// the rest of the path, which is empty or begins with a slash.
func (s Side) replacePaths(text string, replace func(tree, below string) string) string {
	var replaced strings.Builder
	for i := 0; i < len(text); {
		tree := s.treeAt(text, i)
		if tree == "" {
			replaced.WriteByte(text[i])
			i++
			continue
		}
		i += len(tree)
		end := len(text)
		if n := strings.IndexAny(text[i:], delimiters); n >= 0 {
			end = i + n
		}
		replaced.WriteString(replace(tree, text[i:end]))
		i = end
	}
	return replaced.String()
}

// treeAt is the name of the user's working tree that begins at an index of a text; empty: there is none.
func (s Side) treeAt(text string, i int) string {
	for _, name := range s.Trees {
		rest, ok := strings.CutPrefix(text[i:], name)
		if ok && (rest == "" || rest[0] == '/' || strings.IndexByte(delimiters, rest[0]) >= 0) &&
			beforePath.MatchString(text[strings.LastIndexAny(text[:i], delimiters)+1:i]) {
			return name
		}
	}
	return ""
}

// environ is the environment of a point on a side, as what is added to that of this process. A path of the user's working tree in a
// variable becomes the path on the side, because builds and programs may write there. Search paths, environments and temporary folders
// stay if only the user's tree has them, because git ignores them: code that is loaded from there is found when it is read. In PATH, the
// folder on the side comes first, because a build may make it.
func (t *Targets) environ(on int, variables map[string]string) []string {
	var moved []string
	side := t.Sides[on]
	for _, entry := range os.Environ() {
		key, value, _ := strings.Cut(entry, "=")
		if key == "PWD" { // the folder of each process, as package task sets it
			continue
		}
		there := side.replacePaths(value, func(tree, below string) string {
			switch {
			case key == "PATH" && t.usersAtFirst(tree, below):
				return side.Root + below + string(filepath.ListSeparator) + tree + below
			case stays(key) && t.users(tree, below):
				return tree + below
			}
			return side.Root + below
		})
		if there != value {
			moved = append(moved, key+"="+there)
		}
	}
	return append(moved, environOf(variables)...)
}

// usersAtFirst is what users reported the first time, before any build.
func (t *Targets) usersAtFirst(tree, below string) bool {
	only, known := t.ignored[tree+below]
	if !known {
		only = t.users(tree, below)
		t.ignored[tree+below] = only
	}
	return only
}

// stays reports whether a variable names folders from which programs are started or code is loaded, or folders of the user.
func stays(key string) bool {
	return strings.HasSuffix(key, "PATH") || strings.HasPrefix(key, "XDG_") ||
		slices.Contains([]string{"VIRTUAL_ENV", "CONDA_PREFIX", "TMPDIR", "TMP", "TEMP", "HOME"}, key)
}

// builtInto reports whether builds may make a path of the user's working tree on each side, because a variable that they get names it or
// a folder around it.
func (t *Targets) builtInto(below string) (named bool) {
	if !slices.ContainsFunc(t.run(), func(p *sweep.Point) bool { return len(p.Build) > 0 }) {
		return false
	}
	for _, entry := range os.Environ() {
		key, value, _ := strings.Cut(entry, "=")
		if stays(key) || key == "OLDPWD" || key == "PWD" {
			continue
		}
		t.Sides[0].replacePaths(value, func(tree, folder string) string {
			folder = strings.TrimRight(folder, "/")
			named = named || folder != "" && within(below, folder)
			return tree + folder
		})
	}
	return named
}

// users reports whether the user's working tree has a path that no side has.
func (t *Targets) users(tree, below string) bool {
	onSide := func(s Side) bool { return exists(s.Root + below) }
	return !slices.ContainsFunc(t.Sides, onSide) && exists(tree+below)
}

// below is the rest of an absolute path in the user's working tree, in which it may be through symbolic links.
func (s Side) below(path string) (rest string, ok bool) {
	if len(s.Trees) == 0 || !worktree.Within(path, s.Trees[0]) {
		return "", false
	}
	for _, tree := range s.Trees {
		if rest, ok := strings.CutPrefix(filepath.Clean(path), tree); ok {
			return rest, true
		}
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", true
	}
	return strings.TrimPrefix(real, s.Trees[0]), true
}

// exempt reports whether a path is shared by both sides.
func (s Side) exempt(path string) bool {
	return slices.ContainsFunc(s.Exempt, func(e string) bool { return worktree.Within(path, e) })
}

// sharing says how both sides get a path of the user's working tree that neither has.
func (t *Targets) sharing(below string) string {
	side := t.Sides[0]
	missing := ""
	for _, part := range strings.Split(strings.Trim(below, "/"), "/") {
		missing += "/" + part
		if !slices.ContainsFunc(t.Sides, func(s Side) bool { return exists(s.Root + missing) }) {
			break
		}
	}
	path := strings.TrimPrefix(missing, "/")
	if from, err := filepath.Rel(side.Dir, side.Root+missing); err == nil {
		path = from
	}
	return "--set 'share=[" + path + "]', or share: [" + path + "] in a sweep file, lets both sides use it"
}

// unshared says of a relative path of a point that neither side has but the user's working tree has how to share it; empty: it is
// not such a path.
func (t *Targets) unshared(dir, path string) string {
	if len(t.Sides) < 2 || path == "" || filepath.IsAbs(path) {
		return ""
	}
	below, ok := strings.CutPrefix(inDir(t.Sides[0].resolve(dir), path), t.Sides[0].Root)
	if trees := t.Sides[0].Trees; !ok || len(trees) == 0 || !t.users(trees[0], below) || t.builtInto(below) {
		return ""
	}
	return "; only your working tree has it: " + t.sharing(below)
}

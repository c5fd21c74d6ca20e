package prepare

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema/lazyregexp"
)

// CheckSides refuses, before anything runs, a sweep that would measure the same code on both sides. NoteFiles finds the other cases at
// the first launches.
func (t *Targets) CheckSides() error {
	if len(t.Sides) < 2 {
		return nil
	}
	built := false
	for _, p := range t.run() {
		for _, text := range textsOf(p) {
			if err := t.checkAbsolute(text); err != nil {
				return fmt.Errorf("%s: %w", t.Sweep.Name, err)
			}
		}
		t.uses = t.uses || t.usesTree(p)
		built = built || len(p.Build) > 0
	}
	if t.uses || built {
		return nil
	}
	for _, p := range t.run() {
		if script := t.scriptOf(p); script != "" {
			return fmt.Errorf("%s: %s: %s: no such file%s", t.Sweep.Name, p.Command[0], script, t.unsharedAdvice(p.Dir, script))
		}
	}
	if len(t.Sweep.Points) > 0 && !slices.ContainsFunc(t.run(), watchable) {
		return t.nothingUsed()
	}
	return nil
}

// nothingUsed returns the error of a sweep that uses nothing from the repository.
func (t *Targets) nothingUsed() error {
	return fmt.Errorf("%s: it uses nothing from the repository, so both sides would be the same: name a file of it, by a relative path", t.Sweep.Name)
}

// pathText is a text of a point with its key; the key is empty for words of the command.
type pathText struct{ what, text string }

// textsOf lists the texts of a point that may contain paths.
func textsOf(p *sweep.Point) []pathText {
	var all []pathText
	add := func(what string, texts ...string) {
		for _, text := range texts {
			if text != "" {
				all = append(all, pathText{what, text})
			}
		}
	}
	add("", p.Command...)
	add("", p.File, p.ModelPath)
	add("cwd: ", p.Dir)
	add("stdin: ", p.Stdin)
	add("output: ", p.Stdout)
	add("setup: ", p.Hooks.Setup...)
	add("prepare: ", p.Hooks.Prepare...)
	add("cleanup: ", p.Hooks.Cleanup...)
	for _, command := range p.Build {
		add("build: ", command...)
	}
	for _, key := range slices.Sorted(maps.Keys(p.Env)) {
		add("env."+key+": ", p.Env[key])
	}
	return all
}

// checkAbsolute refuses an absolute path into the user's working tree, unless both sides share it.
func (t *Targets) checkAbsolute(s pathText) (refused error) {
	side := t.Sides[0]
	check := func(path, below string) {
		switch {
		case refused != nil || side.exempt(path):
		case len(side.Trees) > 0 && t.onlyUserHas(side.Trees[0], below) && !t.builtInto(below):
			refused = fmt.Errorf("%s%s is an absolute path in the repository, and neither side has it: %s", s.what, path, t.shareAdvice(below))
		default:
			refused = fmt.Errorf("%s%s is an absolute path in the repository, so it is the same on both sides: make it relative", s.what, path)
		}
	}
	if filepath.IsAbs(s.text) { // it may lead there through symbolic links
		if below, ok := side.below(s.text); ok {
			check(s.text, below)
		}
	}
	side.replacePaths(s.text, func(tree, below string) string {
		check(tree+below, below)
		return tree + below
	})
	return refused
}

// workingFolder matches the ways in which a shell line names its working directory.
var workingFolder = lazyregexp.MustCompile(`\$PWD|\$\{PWD\}|\bpwd\b`)

// usesTree reports whether a text of a point, apart from its builds, names something that is on a side.
func (t *Targets) usesTree(p *sweep.Point) bool {
	return slices.ContainsFunc(textsOf(p), func(s pathText) bool {
		switch {
		case s.what == "build: " || s.what == "output: ":
			return false
		case s.what == "cwd: ":
			return !filepath.IsAbs(s.text)
		case workingFolder.MatchString(s.text):
			return true
		}
		parts := strings.FieldsFunc(s.text, func(r rune) bool { return strings.ContainsRune(delimiters, r) })
		return slices.ContainsFunc(append(parts, s.text), func(path string) bool {
			if path == "" || filepath.IsAbs(path) || path == "." && strings.Contains(s.text, " ") { // the dot of a shell is no folder
				return false
			}
			return slices.ContainsFunc(t.Sides, func(side Side) bool { return side.Has(p.Dir, path) })
		})
	})
}

// interpreters run the file that is their first argument without a dash.
var interpreters = lazyregexp.MustCompile(`^(sh|ash|bash|dash|ksh|zsh|fish|python[0-9.]*|pypy[0-9.]*|perl|ruby|node|php|lua|Rscript|julia)$`)

// scriptOf returns the script that a command passes to an interpreter; empty: there is none.
func (t *Targets) scriptOf(p *sweep.Point) string {
	if len(p.Command) == 0 || !interpreters.MatchString(filepath.Base(p.Command[0])) || p.Hooks.Setup != nil {
		return ""
	}
	for _, word := range p.Command[1:] {
		switch {
		case word == "-" || word == "-s" || word == "-m" || word == "-e" || strings.HasPrefix(word, "-") && strings.HasSuffix(word, "c"):
			return "" // a text, a module, or standard input
		case !strings.HasPrefix(word, "-"):
			if filepath.IsAbs(word) {
				return ""
			}
			return word
		}
	}
	return ""
}

// Side is a folder with the code to measure. The zero value is the working directory.
type Side struct {
	Name   string   // base or head; empty for a single side
	Dir    string   // where relative paths begin; empty is the working directory
	Root   string   // the tree of the side, around Dir; empty for a single side
	Trees  []string // names of the user's working tree, absolute; the first one is without symbolic links
	Others []string // folders with other versions of the code, which must not be used
	Exempt []string // paths within those that both sides share
}

// Has reports whether a path exists for a point in a folder.
func (s Side) Has(dir, path string) bool { return exists(task.InDir(s.resolve(dir), path)) }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// absent returns the reason why a point can be launched only on the other side: its files do not exist here. It is nil if they exist, or if
// they exist on no side.
func (t *Targets) absent(p *sweep.Point, on int) error {
	if len(t.Sides) == 1 {
		return nil
	}
	for _, path := range needed(p) {
		there := func(i int) bool { return t.Sides[i].Has(p.Dir, path) }
		if !there(on) && there(1-on) {
			return fmt.Errorf("%s does not exist on side %s", cmp.Or(path, p.Dir, "the working directory"), t.Sides[on].Name)
		}
	}
	return nil
}

// needed returns the texts of a point that are relative paths of existing files; an empty one is its folder. A program without a slash
// is not a path: it is looked up in PATH.
func needed(p *sweep.Point) []string {
	paths := []string{p.File, p.ModelPath}
	for _, f := range extraFiles(p) {
		paths = append(paths, f.path)
	}
	for i, word := range p.Command {
		if i > 0 || strings.Contains(word, "/") {
			paths = append(paths, word)
		}
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return path == "" || filepath.IsAbs(path) })
	if !filepath.IsAbs(p.Dir) {
		paths = append(paths, "")
	}
	return paths
}

// resolve returns a folder of a point, on this side.
func (s Side) resolve(dir string) string { return task.InDir(s.Dir, dir) }

// foreign returns the folder of other code that contains a path; empty if none does.
func (s Side) foreign(path string) string {
	for _, dir := range s.Others {
		if worktree.Within(path, dir) && !s.exempt(path) {
			return dir
		}
	}
	return ""
}

// delimiters end a path in a text, such as a list of folders, a flag with a value, or a line of a shell.
const delimiters = ":;,=\"'`()<>|&?\t\n "

// beforePath matches the text between a delimiter and an absolute path, as in -I/usr/include, @/tmp/list and file:///tmp/x.
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

// treeAt returns the name of the user's working tree that begins at an index of a text; empty: none begins there.
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

// environ returns the variables to add to the environment of this process for a point on a side. A path of the user's working tree in a
// variable becomes the path on the side, because builds and programs may write there. Search paths, environments and temporary folders
// stay if only the user's tree has them, because git ignores them: code that is loaded from there is detected when it is read. In PATH,
// the folder on the side comes first, because a build may make it.
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
			case key == "PATH" && t.onlyUserHadBefore(tree, below):
				return side.Root + below + string(filepath.ListSeparator) + tree + below
			case staysInUserTree(key) && t.onlyUserHas(tree, below):
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

// onlyUserHadBefore is the first result of onlyUserHas, from before any build.
func (t *Targets) onlyUserHadBefore(tree, below string) bool {
	only, known := t.ignored[tree+below]
	if !known {
		only = t.onlyUserHas(tree, below)
		t.ignored[tree+below] = only
	}
	return only
}

// staysInUserTree reports whether a variable names folders from which programs are started or code is loaded, or folders of the user.
func staysInUserTree(key string) bool {
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
		if staysInUserTree(key) || key == "OLDPWD" || key == "PWD" {
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

// onlyUserHas reports whether the user's working tree has a path that no side has.
func (t *Targets) onlyUserHas(tree, below string) bool {
	onSide := func(s Side) bool { return exists(s.Root + below) }
	return !slices.ContainsFunc(t.Sides, onSide) && exists(tree+below)
}

// below returns the rest of an absolute path in the user's working tree, also if it leads there through symbolic links.
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

// shareAdvice returns advice how both sides get a path of the user's working tree that neither has.
func (t *Targets) shareAdvice(below string) string {
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

// unsharedAdvice returns advice how to share a relative path of a point that only the user's working tree has; empty: it is not such a
// path.
func (t *Targets) unsharedAdvice(dir, path string) string {
	if len(t.Sides) < 2 || path == "" || filepath.IsAbs(path) {
		return ""
	}
	below, ok := strings.CutPrefix(task.InDir(t.Sides[0].resolve(dir), path), t.Sides[0].Root)
	if trees := t.Sides[0].Trees; !ok || len(trees) == 0 || !t.onlyUserHas(trees[0], below) || t.builtInto(below) {
		return ""
	}
	return "; only your working tree has it: " + t.shareAdvice(below)
}

package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Errors of git that depend on the folder and not on the command. The message around them names the folder.
var (
	errNoGit        = errors.New("git is not installed")
	errNoRepository = errors.New("not in a git repository")
	errBare         = errors.New("a bare repository has no working tree")
	errUntrusted    = errors.New("git does not trust this repository because it belongs to another user: see git config safe.directory")
	errNotStored    = errors.New("files of that commit in Git LFS are missing here, and nothing is downloaded: use git lfs fetch --all")
	errNotHere      = errors.New("this partial clone lacks files of that commit, and nothing is downloaded: check out the commit once")
)

// grace is the time limit for an interrupted git to clean up.
const grace = 3 * time.Second

// refusal is git saying no.
type refusal struct {
	command string
	says    string // the first error of its messages
	code    int    // its exit status
}

// Error returns the command and the message of git.
func (r *refusal) Error() string { return "git " + r.command + ": " + r.says }

// call is how git is started.
type call struct {
	dir   string   // where it runs
	env   []string // on top of the environment
	stdin []byte
	held  *os.File // stays open, and its lock held, until git and all its children have ended; nil for none
}

// settings keep git from running programs that the user did not request: hooks, a file system monitor that would outlive this process,
// and programs in the configuration of a folder of a clone that looks like a bare repository. The index is a single file, so that a copy
// of it is complete; objects are temporary and not worth packing; Git LFS has no server to download from.
var settings = []string{
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.splitIndex=false",
	"-c", "core.looseCompression=0", "-c", "submodule.recurse=false", "-c", "lfs.url=file:///dev/null",
	"-c", "safe.bareRepository=explicit",
}

// run runs git and returns its output. git ignores the repository in the environment, writes English messages, has no terminal for
// prompts, and may use no network, whatever the configuration allows.
func (c call) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append(settings[:len(settings):len(settings)], args...)...)
	cmd.Dir, cmd.Stdin = c.dir, bytes.NewReader(c.stdin)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "GIT_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=none", "LC_ALL=C")
	cmd.Env = append(cmd.Env, c.env...)
	if c.held != nil {
		cmd.ExtraFiles = []*os.File{c.held}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = grace
	var out, says bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &says
	err := cmd.Run()
	if err == nil {
		return out.String(), nil
	}
	if ctx.Err() != nil {
		return "", fmt.Errorf("git %s: %w", args[0], ctx.Err())
	}
	return out.String(), c.explain(args[0], says.String(), err)
}

// LocalVariables returns the names of the environment variables that select the repository in which git works. A git hook has some of
// them; they must not reach a program that runs in a side, whose repository is another one.
func LocalVariables(ctx context.Context) ([]string, error) {
	says, err := call{}.run(ctx, "rev-parse", "--local-env-vars")
	return strings.Fields(says), err
}

// explain determines the kind of an error from the message of git: its exit status is nearly always 128.
func (c call) explain(command, says string, err error) error {
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return errNoGit
	case !errors.As(err, &exit):
		return fmt.Errorf("git %s in %q: %w", command, c.dir, err)
	}
	for _, known := range []struct {
		words string
		err   error
	}{
		{"not a git repository", errNoRepository},
		{"dubious ownership", errUntrusted},
		{"cannot use bare repository", errBare},
		{"smudge filter lfs failed", errNotStored},
		{"fatal: transport '", errNotHere}, // transports are disabled: the object would have been downloaded
	} {
		if strings.Contains(says, known.words) {
			return known.err
		}
	}
	return &refusal{command, firstError(says), exit.ExitCode()}
}

// firstError returns the first line in which git reports an error, else its last line.
func firstError(says string) string {
	lines := strings.Split(strings.TrimSpace(says), "\n")
	for _, line := range lines {
		for _, prefix := range []string{"error: ", "fatal: "} {
			if text, ok := strings.CutPrefix(line, prefix); ok {
				return strings.TrimSpace(text)
			}
		}
	}
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return last
	}
	return "it says nothing"
}

// config returns the configuration of a clone: the settings of the repository except the ones that bind it to its location or run hooks.
func (r repo) config(ctx context.Context, side repo) (string, error) {
	says, err := r.metadata(ctx, "config", "--list", "-z", "--show-scope")
	if err != nil {
		return "", err
	}
	var text strings.Builder
	parts := fields(says) // scope NUL key LF value NUL ...; no LF where the value is left out
	for i := 0; i+1 < len(parts); i += 2 {
		key, value, valued := strings.Cut(parts[i+1], "\n")
		section, name, subsection, ok := splitKey(key)
		if scope := parts[i]; !ok || scope != "local" && scope != "worktree" || !copied(section, name) {
			continue
		}
		text.WriteString("[" + section)
		if subsection != "" {
			text.WriteString(" " + quoted(subsection))
		}
		text.WriteString("]\n\t" + name)
		if valued {
			text.WriteString(" = " + quoted(value))
		}
		text.WriteString("\n")
	}
	text.WriteString("[core]\n\tbare = false\n")
	if link := filepath.Join(side.top, ".git"); side.dir != link {
		tree, err := filepath.Rel(side.dir, side.top)
		if err != nil {
			return "", err
		}
		text.WriteString("\tworktree = " + quoted(tree) + "\n")
	}
	return text.String(), nil
}

// splitKey splits section.subsection.name, of which the subsection may be missing and may have dots.
func splitKey(key string) (section, name, subsection string, ok bool) {
	section, rest, ok := strings.Cut(key, ".")
	name = rest
	if i := strings.LastIndexByte(rest, '.'); i >= 0 {
		subsection, name = rest[:i], rest[i+1:]
	}
	return section, name, subsection, ok
}

// copied reports whether a setting is copied to a clone. Extensions define how a repository stores its files, and a clone has its own;
// settings of included files are in the list.
func copied(section, name string) bool {
	switch section {
	case "include", "includeif":
		return false
	case "extensions":
		return name == "objectformat"
	case "core":
		return name != "worktree" && name != "bare" && name != "hookspath" && name != "fsmonitor"
	}
	return true
}

// quoted returns a text in the quoting syntax of git: of its configuration, and of object directories in its environment.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}

// ReadFile returns a file of a commit, with the content of a checkout, from the repository around dir. name is its path from the root of
// the repository; with ./ or ../ at the beginning it is relative to dir. Nothing is checked out, and git writes nothing.
func ReadFile(ctx context.Context, dir, ref, name string) ([]byte, error) {
	content, err := readFile(ctx, dir, ref, name)
	if err != nil {
		return nil, fmt.Errorf("reading %q of commit %q: %w", name, ref, err)
	}
	return content, nil
}

func readFile(ctx context.Context, dir, ref, name string) ([]byte, error) {
	if name == "" {
		return nil, errors.New("want the path of a file")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r, inside, err := find(ctx, dir)
	if err != nil {
		return nil, err
	}
	code, err := against(ctx, r, ref)
	if err != nil {
		return nil, err
	}
	from := name
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		from = path.Join(filepath.ToSlash(inside), name)
	}
	object := code.Commit + ":" + path.Clean(from)
	kind, err := r.git(ctx, "cat-file", "-t", object)
	if _, refused := errors.AsType[*refusal](err); refused {
		return nil, errors.New("the commit has no such file")
	}
	switch kind = strings.TrimSpace(kind); {
	case err != nil:
		return nil, err
	case kind == "tree":
		return nil, errors.New("it is a folder: want a file")
	case kind != "blob":
		return nil, fmt.Errorf("it is a %s: want a file", kind)
	}
	content, err := r.git(ctx, "cat-file", "--filters", object)
	return []byte(content), err
}

// Commit is one commit of a history.
type Commit struct {
	ID      string   // hexadecimal, whole
	Parents []string // as many as it has; with FirstParent one at most
	Subject string   // the first line of its message
}

// History is the list of commits that lead from one commit to a later one.
type History struct {
	Good, Bad Commit

	// Commits are the commits that Bad contains and Good does not, including Bad; each after all of its children.
	Commits []Commit
}

// Between reads the commits between two commits of the repository around dir, which are named as in git. With firstParent, commits that
// merges brought in are left out. Git writes nothing. Errors have one line: a name that is not a commit here, two names of the same commit,
// or a good commit that is not an ancestor of the bad one.
func Between(ctx context.Context, dir, good, bad string, firstParent bool) (History, error) {
	h, err := between(ctx, dir, good, bad, firstParent)
	if err != nil {
		return History{}, fmt.Errorf("commits between %q and %q: %w", good, bad, err)
	}
	return h, nil
}

func between(ctx context.Context, dir, good, bad string, firstParent bool) (h History, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return h, err
	}
	r, _, err := find(ctx, dir)
	if err != nil {
		return h, err
	}
	ends := map[string]Code{}
	for _, name := range []string{good, bad} {
		if ends[name], err = against(ctx, r, name); err != nil {
			return h, fmt.Errorf("%q: %w", name, err)
		}
	}
	from, to := ends[good].Commit, ends[bad].Commit
	if from == to {
		return h, errors.New("they are the same commit")
	}
	_, err = r.git(ctx, "merge-base", "--is-ancestor", from, to)
	if refused, ok := errors.AsType[*refusal](err); ok && refused.code == 1 {
		return h, fmt.Errorf("%q is not an ancestor of %q: git merge-base %s %s finds a common one", good, bad, good, bad)
	}
	if err != nil {
		return h, err
	}
	first, err := r.commits(ctx, firstParent, "--max-count=1", from)
	if err != nil {
		return h, err
	}
	h.Good = first[0]
	if h.Commits, err = r.commits(ctx, firstParent, to, "^"+from); err != nil {
		return h, err
	}
	h.Bad = h.Commits[0]
	return h, nil
}

// commits returns the commits that git rev-list lists for these arguments, children first. With firstParent, commits that only a merge
// contains are left out.
func (r repo) commits(ctx context.Context, firstParent bool, of ...string) ([]Commit, error) {
	args := []string{"rev-list", "--topo-order", "--parents", "--format=%s"}
	if firstParent {
		args = append(args, "--first-parent")
	}
	says, err := r.git(ctx, append(append(args, of...), "--")...)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(says, "\n"), "\n")
	if len(lines)%2 != 0 {
		return nil, fmt.Errorf("git rev-list writes %d lines, want two a commit", len(lines))
	}
	var all []Commit
	for i := 0; i < len(lines); i += 2 {
		ids := strings.Fields(lines[i]) // commit ID PARENT...
		if len(ids) < 2 {
			return nil, fmt.Errorf("git rev-list writes %q, want a commit", lines[i])
		}
		c := Commit{ID: ids[1], Parents: ids[2:], Subject: lines[i+1]}
		if firstParent && len(c.Parents) > 1 {
			c.Parents = c.Parents[:1]
		}
		all = append(all, c)
	}
	return all, nil
}

// isCommitID reports whether a text is the id of a commit, or its beginning, and has no other meaning to git.
func isCommitID(text string) bool {
	const short, long = 4, 64
	return len(text) >= short && len(text) <= long && strings.Trim(text, "0123456789abcdef") == ""
}

// CommitTime returns when a commit was made, in the repository of a folder.
func CommitTime(ctx context.Context, dir, commit string) (time.Time, error) {
	if !isCommitID(commit) {
		return time.Time{}, fmt.Errorf("commit %q is no id of a commit", commit)
	}
	out, err := call{dir: dir}.run(ctx, "show", "--no-patch", "--no-show-signature", "--format=%ct", commit+"^{commit}")
	if err != nil {
		return time.Time{}, fmt.Errorf("commit %s: %w", commit, err)
	}
	return unixSeconds(out)
}

// LastChange returns the time of the last commit that changed a file. It fails if the file differs from that commit, and in a shallow
// clone whose history ends after that commit: there the oldest commit seems to have changed all files.
func LastChange(ctx context.Context, file string) (time.Time, error) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return time.Time{}, err
	}
	in, name := call{dir: filepath.Dir(real)}, ":(literal)"+filepath.Base(real)
	changed, err := in.run(ctx, "status", "--porcelain", "--ignored", "--", name)
	if err != nil {
		return time.Time{}, err
	}
	if strings.TrimSpace(changed) != "" {
		return time.Time{}, errors.New("the file is not committed, or differs from its last commit")
	}
	out, err := in.run(ctx, "log", "-1", "--no-show-signature", "--format=%ct %P", "--", name)
	if err != nil {
		return time.Time{}, err
	}
	seconds, parents, _ := strings.Cut(strings.TrimSpace(out), " ")
	if parents == "" {
		shallow, err := in.run(ctx, "rev-parse", "--is-shallow-repository")
		if err != nil {
			return time.Time{}, err
		}
		if strings.TrimSpace(shallow) == "true" {
			return time.Time{}, errors.New("this clone is shallow and may not have the last commit that changed the file: use git fetch --unshallow")
		}
	}
	return unixSeconds(seconds)
}

// unixSeconds parses the output of %ct.
func unixSeconds(text string) (time.Time, error) {
	seconds, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return time.Time{}, errors.New("git names no time of a commit")
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// OnlyParent returns the id of the parent of a commit, whose id may be abbreviated, in the repository of a folder. It is empty if the commit has
// no or several parents, or is not in this repository.
func OnlyParent(ctx context.Context, dir, commit string) string {
	says, err := call{dir: dir}.run(ctx, "rev-list", "--parents", "--max-count=1", commit)
	ids := strings.Fields(says)
	if err != nil || len(ids) != 2 || !strings.HasPrefix(ids[0], commit) { // a branch may be called as an id
		return ""
	}
	return ids[1]
}

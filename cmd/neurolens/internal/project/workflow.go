package project

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

//go:embed files
var templates embed.FS

// script is where the shell script stands in a repository.
const script = "ci/neurolens.sh"

// systems are the files of each system beside the script, by their names here and in a repository.
var systems = map[string]map[string]string{
	"github":  {"github.yml": ".github/workflows/neurolens.yml"},
	"gitlab":  {"gitlab.yml": ".gitlab-ci.yml"},
	"jenkins": {"Jenkinsfile": "Jenkinsfile"},
	"plain":   {},
}

// CISystems returns the names of the CI systems, ascending.
func CISystems() []string { return []string{"github", "gitlab", "jenkins", "plain"} }

// CIHistories returns the words for where the runs are kept; anything else is a folder or a bucket.
func CIHistories() []string { return []string{"artifact", "branch", "cache", "none"} }

// WorkflowOptions say what is wanted.
type WorkflowOptions struct {
	System  string
	Sweep   string // the sweep file, from the root of the repository, with slashes
	History string // one of CIHistories, a folder, or the URL of a bucket
}

// WorkflowFile is a file of a repository.
type WorkflowFile struct {
	Path    string // from its root, with slashes
	Content []byte
	Mode    fs.FileMode
}

// bucketScheme begins the URL of a bucket.
const bucketScheme = "s3://"

func isBucket(history string) bool { return strings.HasPrefix(history, bucketScheme) }

// isPlainBucket reports whether a URL has a bucket and names, of which none is empty.
func isPlainBucket(url string) bool {
	at := strings.TrimSuffix(strings.TrimPrefix(url, bucketScheme), "/")
	return plainPath.MatchString(at) && fs.ValidPath(at)
}

// plainPath is what a path in the script has: nothing that a shell or YAML would take for something else.
var plainPath = regexp.MustCompile(`^[A-Za-z0-9._/@+-]+$`)

// WorkflowFiles returns the files that have a system measure a sweep.
func WorkflowFiles(o WorkflowOptions) ([]WorkflowFile, error) {
	of, known := systems[o.System]
	switch {
	case !known:
		hint := ""
		if near := schema.Nearest(o.System, CISystems()); near != "" {
			hint = "; did you mean " + near + "?"
		}
		return nil, fmt.Errorf("%q: want %s%s", o.System, strings.Join(CISystems(), ", "), hint)
	case !filepath.IsLocal(filepath.FromSlash(o.Sweep)):
		return nil, fmt.Errorf("--sweep %q: want a path relative to the root of the repository", o.Sweep)
	case !plainPath.MatchString(o.Sweep) || strings.HasPrefix(o.Sweep, "-"):
		return nil, fmt.Errorf("--sweep %q: want a path of letters, digits and . _ / @ + -", o.Sweep)
	case isBucket(o.History) && !isPlainBucket(o.History):
		return nil, fmt.Errorf("--history %q: want a bucket and a prefix of letters, digits and . _ / @ + -, as s3://bench/team", o.History)
	case isBucket(o.History):
	case !plainPath.MatchString(o.History) || strings.HasPrefix(o.History, "-"):
		return nil, fmt.Errorf("--history %q: want %s, a bucket as s3://bench/team, or a folder of letters, digits and . _ / @ + -", o.History, strings.Join(CIHistories(), ", "))
	case !slices.Contains(CIHistories(), o.History) && !strings.Contains(o.History, "/"):
		return nil, fmt.Errorf("--history %q: want %s, or a folder, as ./%s", o.History, strings.Join(CIHistories(), ", "), o.History)
	}
	all := []WorkflowFile{{Path: script, Mode: 0o755}}
	names := []string{"neurolens.sh"}
	for name, path := range of {
		all, names = append(all, WorkflowFile{Path: path, Mode: 0o644}), append(names, name)
	}
	for i := range all {
		var err error
		if all[i].Content, err = filled(names[i], o); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// filled returns a template with what was asked for.
func filled(name string, o WorkflowOptions) ([]byte, error) {
	text, err := templates.ReadFile(path.Join("files", name))
	if err != nil {
		return nil, err
	}
	t, err := template.New(name).Delims("[[", "]]").Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, struct {
		Script, Sweep, History string
		Bucket                 bool
	}{script, o.Sweep, o.History, isBucket(o.History)})
	return b.Bytes(), err
}

// What became of a file.
const (
	stateNew      = "written"
	stateReplaced = "replaced"
	stateSame     = "unchanged"
)

// placed is a file on its way: where it goes, what was there, and its temporary file.
type placed struct {
	WorkflowFile
	target, temp string
	before       []byte // nil: nothing was there
	mode         fs.FileMode
	state        string
	done         bool
}

// WriteWorkflow writes the files under a folder, all or none, and says what became of each. Without force it is an error if one of them is
// there and differs. Folders that were made stay.
func WriteWorkflow(dir string, all []WorkflowFile, force bool) (states []string, err error) {
	files := make([]placed, len(all))
	for i, f := range all {
		files[i] = placed{WorkflowFile: f, target: filepath.Join(dir, filepath.FromSlash(f.Path))}
		if err := files[i].look(force); err != nil {
			return nil, err
		}
		states = append(states, files[i].state)
	}
	defer func() {
		for i := range files {
			if files[i].temp != "" {
				_ = os.Remove(files[i].temp) // it is gone where it was renamed
			}
			if err != nil {
				files[i].undo()
			}
		}
	}()
	for i := range files {
		if err := files[i].prepare(); err != nil {
			return nil, fmt.Errorf("writing %s: %w", files[i].Path, cause(err))
		}
	}
	for i := range files {
		if err := files[i].place(); err != nil {
			return nil, fmt.Errorf("writing %s: %w", files[i].Path, cause(err))
		}
	}
	return states, nil
}

// look finds the earlier state.
func (f *placed) look(force bool) error {
	info, err := os.Lstat(f.target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.state = stateNew
		return nil
	case err != nil:
		return fmt.Errorf("writing %s: %w", f.Path, cause(err))
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s exists and is not a file", f.Path)
	}
	if f.before, err = os.ReadFile(f.target); err != nil {
		return fmt.Errorf("reading %s: %w", f.Path, cause(err))
	}
	f.mode = info.Mode().Perm()
	switch {
	case bytes.Equal(f.before, f.Content):
		f.state = stateSame
	case !force:
		return fmt.Errorf("%s exists and differs: --force replaces it", f.Path)
	default:
		f.state = stateReplaced
	}
	return nil
}

// prepare writes the temporary file, durably.
func (f *placed) prepare() error {
	if f.state == stateSame {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(f.target), 0o755); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(f.target), "."+filepath.Base(f.target)+".*.part")
	if err != nil {
		return err
	}
	f.temp = temp.Name()
	_, err = temp.Write(f.Content)
	return errors.Join(err, temp.Chmod(f.Mode), temp.Sync(), temp.Close())
}

// place puts the temporary file where it belongs.
func (f *placed) place() error {
	if f.temp == "" {
		return nil
	}
	err := os.Rename(f.temp, f.target)
	f.done = err == nil
	return err
}

// undo restores the earlier state.
func (f *placed) undo() {
	switch {
	case !f.done:
	case f.before == nil:
		_ = os.Remove(f.target)
	default:
		_ = errors.Join(os.WriteFile(f.target, f.before, f.mode), os.Chmod(f.target, f.mode))
	}
}

// cause returns an error of the file system without the path, which the message has already.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

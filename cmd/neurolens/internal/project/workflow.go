package project

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
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

// CISystems are the names of the CI systems, ascending.
func CISystems() []string { return []string{"github", "gitlab", "jenkins", "plain"} }

// CIHistories are the words for where the runs are kept; anything else is a folder.
func CIHistories() []string { return []string{"artifact", "branch", "cache", "none"} }

// WorkflowOptions say what is wanted.
type WorkflowOptions struct {
	System  string
	Sweep   string // the sweep file, from the root of the repository, with slashes
	History string // one of Histories, or a folder
}

// WorkflowFile is a file of a repository.
type WorkflowFile struct {
	Path    string // from its root, with slashes
	Content []byte
	Mode    fs.FileMode
}

// plainPath is what a path in the script has: nothing that a shell or YAML would take for something else.
var plainPath = regexp.MustCompile(`^[A-Za-z0-9._/@+-]+$`)

// WorkflowFiles are the files that have a system measure a sweep.
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
	case !plainPath.MatchString(o.History) || strings.HasPrefix(o.History, "-"):
		return nil, fmt.Errorf("--history %q: want %s, or a folder of letters, digits and . _ / @ + -", o.History, strings.Join(CIHistories(), ", "))
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

// filled is a template with what was asked for.
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
	err = t.Execute(&b, struct{ Script, Sweep, History string }{script, o.Sweep, o.History})
	return b.Bytes(), err
}

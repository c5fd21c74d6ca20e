package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestDocuments: what the documents of the top level name in backquotes exists, and so does what they link to. Paths count from the top
// level and may have a *, those that begin with ./ are the reader's; a test stands in a file or folder that the same row or paragraph
// names; an exported name of Go is that of its package, or a method of its type.
func TestDocuments(t *testing.T) {
	code := readCode(t)
	for _, name := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		text := programtest.RepositoryFile(t, name)
		for _, link := range linked.FindAllStringSubmatch(text, -1) {
			if target := link[1]; !strings.Contains(target, "://") && !code.there(target) {
				t.Errorf("%s links to %s, which does not exist", name, target)
			}
		}
		for _, block := range blocks(text) {
			for _, word := range wordsIn(block) {
				if !code.knows(word, block) {
					t.Errorf("%s names %s, which does not exist: %s", name, word, strings.TrimSpace(block))
				}
			}
		}
	}
}

// TestChangelog: the version of the program is the newest of the changelog.
func TestChangelog(t *testing.T) {
	first := regexp.MustCompile(`(?m)^## .*`).FindString(programtest.RepositoryFile(t, "CHANGELOG.md"))
	valuetest.Contains(t, first, version, "the changelog begins with")
}

// TestDocumentsAreChecked: names that are like those of the code and are none are not known.
func TestDocumentsAreChecked(t *testing.T) {
	code := readCode(t)
	for _, c := range []struct {
		word, block string
		known       bool
	}{
		{"query/judge", "", true},
		{"query/judges", "", false},
		{"cmd/*/law_test.go", "", true},
		{"cmd/*/laws_test.go", "", false},
		{"judge.Judge", "", true},
		{"judge.JudgeNone", "", false},
		{"ingest.Store.Append", "", true},
		{"Store.Prepend", "", false},
		{"TestImportLaw", "`cmd/neurolens/law_test.go`", true},
		{"TestImportLaw", "`cmd/neurolens`", true},
		{"TestImportLaw", "`ingest`", false},
		{"TestImportLaw", "", false},
		{"LICENCE.md", "", false},
		{"sweep.yaml", "", true},
		{"--format", "", true},
		{"./runs_store", "", true}, // of who uses the program
	} {
		valuetest.Equal(t, code.knows(c.word, c.block), c.known, c.word, c.block, "is known")
	}
}

var (
	linked     = regexp.MustCompile(`\]\(([^)#]+)`)
	fenced     = regexp.MustCompile("(?sm)^ *```.*?^ *```$")
	backquoted = regexp.MustCompile("`([^`]+)`")
	testName   = regexp.MustCompile(`^(Test|Fuzz|Benchmark|Example)[A-Z]\w*$`)
	exported   = regexp.MustCompile(`^(?:[a-z]\w*\.)?(?:[A-Z]\w*\.)?[A-Z]\w*$`)
	declared   = regexp.MustCompile(`(?m)^(?:func (?:\((?:\w+ )?\*?(\w+)(?:\[\w+\])?\) )?|type |var |const )(\w+)`)
	ownEnding  = regexp.MustCompile(`\.(go|md|mod)$`)
)

// blocks returns the paragraphs of a document, and the rows and items of its tables and lists.
func blocks(text string) []string {
	text = fenced.ReplaceAllString(text, "")
	return strings.Split(regexp.MustCompile(`\n\n|\n(\||\* |[0-9]+\. )`).ReplaceAllString(text, "\x00"), "\x00")
}

// wordsIn returns the words in backquotes.
func wordsIn(block string) (words []string) {
	for _, m := range backquoted.FindAllStringSubmatch(fenced.ReplaceAllString(block, ""), -1) {
		words = append(words, m[1])
	}
	return words
}

// sources are the files of the repository: of those in Go, the text.
type sources map[string]string

func readCode(t *testing.T) sources {
	t.Helper()
	root, all := filepath.Join("..", ".."), sources{}
	valuetest.OK(t, filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() && (name == ".git" || strings.HasPrefix(name, "fixtures/")) {
			all[name] = ""
			return filepath.SkipDir
		}
		var text []byte
		if !d.IsDir() && strings.HasSuffix(name, ".go") {
			text, err = os.ReadFile(file)
		}
		all[name] = string(text)
		return err
	}))
	return all
}

// packages returns the packages of the module that are no tests alone.
func (s sources) packages() (all []string) {
	for file := range s {
		dir := path.Dir(file)
		if strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") && !strings.Contains(file, "testdata/") && !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	slices.Sort(all)
	return all
}

// there tells whether a file or folder, or one of a pattern, exists.
func (s sources) there(name string) bool {
	found, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(name)))
	return err == nil && len(found) > 0
}

// knows tells whether a word of a block is the name of something that exists, or is no name of anything that the repository has.
func (s sources) knows(word, block string) bool {
	first, _, under := strings.Cut(word, "/")
	_, own := s[first]
	switch {
	case strings.ContainsAny(word, " <{"):
		return true
	case testName.MatchString(word):
		return slices.ContainsFunc(wordsIn(block), func(at string) bool { return s.hasTest(at, word) })
	case under && own && first != ".", !under && ownEnding.MatchString(word):
		return s.there(word)
	case exported.MatchString(word) && strings.Contains(word, "."):
		return s.declares(strings.Split(word, "."))
	}
	return true
}

// hasTest tells whether a file of tests, or one of a folder, has a test.
func (s sources) hasTest(at, name string) bool {
	for file, text := range s {
		if (file == at || path.Dir(file) == at) && strings.HasSuffix(file, "_test.go") && strings.Contains(text, "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}

// declares tells whether a package declares a name, or a method of a type. A first part that is the name of no package here is one
// of another module.
func (s sources) declares(parts []string) bool {
	inPackage := func(string) bool { return true }
	if first := parts[0]; strings.ToLower(first[:1]) == first[:1] {
		inPackage = func(dir string) bool { return path.Base(dir) == first }
		if parts = parts[1:]; !slices.ContainsFunc(s.packages(), inPackage) {
			return true
		}
	}
	receiver, name := "", parts[len(parts)-1]
	if len(parts) > 1 {
		receiver = parts[0]
	}
	for file, text := range s {
		if text == "" || strings.HasSuffix(file, "_test.go") || !inPackage(path.Dir(file)) {
			continue
		}
		for _, d := range declared.FindAllStringSubmatch(text, -1) {
			if d[1] == receiver && d[2] == name {
				return true
			}
		}
	}
	return false
}

// TestWorkflows: the steps of the workflows run files that are there, and get no text but through their environment: what is
// put into a command could be a command itself.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", ".github", "workflows", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	code := readCode(t)
	for _, file := range files {
		var w struct {
			Jobs map[string]struct{ Steps []struct{ Run string } }
		}
		valuetest.NoError(t, yaml.Unmarshal([]byte(programtest.RepositoryFile(t, ".github/workflows/"+filepath.Base(file))), &w), file)
		if len(w.Jobs) == 0 {
			t.Errorf("%s has no jobs", file)
		}
		for _, job := range w.Jobs {
			for _, step := range job.Steps {
				if strings.Contains(step.Run, "${{") {
					t.Errorf("%s: a step has an expression in its command: %s", file, step.Run)
				}
				for _, word := range strings.Fields(step.Run) {
					if strings.Contains(word, "/") && !code.knows(strings.TrimPrefix(word, "./"), "") {
						t.Errorf("%s runs %s, which does not exist", file, word)
					}
				}
			}
		}
	}
}

// TestDependenciesExplained: docs/dependencies.md says what every module that the code imports is for.
func TestDependenciesExplained(t *testing.T) {
	page := programtest.RepositoryFile(t, "docs/dependencies.md")
	lines := regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(programtest.RepositoryFile(t, "go.mod"), -1)
	if len(lines) == 0 {
		t.Fatal("go.mod requires nothing")
	}
	for _, line := range lines {
		if name := strings.TrimPrefix(line[1], "github.com/"); !strings.Contains(page, "\n| "+name+" ") {
			t.Errorf("docs/dependencies.md has no row for %s", name)
		}
	}
}

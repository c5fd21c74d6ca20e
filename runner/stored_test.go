package runner

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/sweep"
)

// factName finds the names of facts in code: of one that ends with a dot a name follows.
var factName = regexp.MustCompile(`"((?:runner|timer)\.[a-z_0-9.]+)"`)

// TestStoredHasEveryFact: STORED.md lists the facts that runs have beside those of the machine, and no others.
func TestStoredHasEveryFact(t *testing.T) {
	text, err := os.ReadFile("STORED.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(text), "\n## Facts of a run\n")
	if list, _, _ = strings.Cut(list, "\n## "); !found {
		t.Fatal("no section on facts of a run")
	}
	want := factsInCode(t)
	for _, key := range sweep.Keys() {
		if key.Stored {
			want = append(want, "runner."+key.Name)
		}
	}
	for _, fact := range want {
		one := func(many string) bool { // many.NAME is listed
			return many != "runner." && many != fact && strings.HasSuffix(many, ".") && strings.HasPrefix(fact, many)
		}
		if slices.ContainsFunc(want, one) {
			continue
		}
		if !strings.Contains(list, "`"+fact) {
			t.Errorf("%s is not there", fact)
		}
	}
	for _, m := range regexp.MustCompile("`((?:runner|timer)\\.[a-z_0-9.]+)[A-Z]*`").FindAllStringSubmatch(list, -1) {
		if !slices.Contains(want, m[1]) && m[1] != "runner." {
			t.Errorf("%s is there, and no run has it", m[1])
		}
	}
}

// factsInCode are the names of facts in the code that launches runs and in the workers, and in what it shares with readers.
func factsInCode(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"*.go", "task/*.go", "prepare/*.go", "sweep/*.go", "python/*.py", "../schema/facts.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, files, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range factName.FindAllStringSubmatch(string(text), -1) {
				names = append(names, m[1])
			}
		}
	}
	return names
}

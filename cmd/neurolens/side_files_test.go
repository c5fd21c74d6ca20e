package main

import (
	"os"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// inFolder is a working directory with files of those names.
func inFolder(t testing.TB, names ...string) {
	t.Chdir(t.TempDir())
	for _, name := range names {
		valuetest.OK(t, os.WriteFile(name, nil, 0o600))
	}
}

// TestParse: what is a file and what is a filter, whatever files there are.
func TestParse(t *testing.T) {
	inFolder(t, "old", "a b.json", "a=b", "c (1) x=2.json", "not")
	for _, c := range []struct {
		side string
		want fileSide // the zero one: it is no file
	}{
		{"", fileSide{}},
		{"session=last", fileSide{}},
		{"a=b", fileSide{}},
		{"not session=last", fileSide{}},
		{"not", fileSide{}},
		{"(dim=64 or dim=128)", fileSide{}},
		{"absent", fileSide{}}, // an error of the filter
		{"old", fileSide{path: "old"}},
		{"./old", fileSide{path: "./old"}},
		{"old dim=64", fileSide{path: "old", filter: "dim=64"}},
		{"old not dim=64", fileSide{path: "old", filter: "not dim=64"}},
		{"a b.json", fileSide{path: "a b.json"}},
		{"a b.json dim=64 bs=1", fileSide{path: "a b.json", filter: "dim=64 bs=1"}},
		{"file:a=b", fileSide{path: "a=b"}},
		{"file:c (1) x=2.json", fileSide{path: "c (1) x=2.json"}},
		{"file:absent.json dim=64", fileSide{path: "absent.json", filter: "dim=64"}},
		{"git:main:reports/summary.json", fileSide{commit: "main", path: "reports/summary.json"}},
		{"git:v1:./a:b.json  dim=64", fileSide{commit: "v1", path: "./a:b.json", filter: "dim=64"}},
		{"git:HEAD~1:a b.json (dim=64 or dim=1)", fileSide{commit: "HEAD~1", path: "a b.json", filter: "(dim=64 or dim=1)"}},
	} {
		got, is, err := parseFileSide(c.side)
		valuetest.DeepEqual(t, []any{got, is, err}, []any{c.want, c.want != (fileSide{}), nil}, c.side)
	}
	for side, want := range map[string]string{
		"git:main":         `"git:main": want git:REF:PATH, as git:main:reports/summary.json`,
		"git::a.json":      `"git::a.json": want git:REF:PATH, as git:main:reports/summary.json`,
		"git:main:":        `"git:main:": want git:REF:PATH, as git:main:reports/summary.json`,
		"file:":            `"file:": want file:PATH`,
		"reports/old.json": `"reports/old.json" is neither a file nor a filter (KEY=VALUE)`,
	} {
		if got, is, err := parseFileSide(side); !is || err == nil || err.Error() != want {
			t.Errorf("%q is %+v, %v, %v; want %s", side, got, is, err, want)
		}
	}
}

// FuzzParse: nothing that is a filter is taken for a file, and what is a file has a path.
func FuzzParse(f *testing.F) {
	inFolder(f, "old", "a=b", "dim=64", "not")
	for _, seed := range []string{"git:main:a.json x=1", "file:old not x=1", "old", "a=b", "not dim=64", "x=\"a b\" or y=2", " ", "git:::", "dim=64"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, side string) {
		r, is, err := parseFileSide(side)
		if !is && (err != nil || r != fileSide{}) || is && err == nil && r.path == "" {
			t.Errorf("%q is %+v, %v, %v", side, r, is, err)
		}
		prefixed := strings.HasPrefix(side, gitPrefix) || strings.HasPrefix(side, filePrefix)
		if _, invalid := filter.Compile(side, filter.Lookups{IDs: func(_, _ string) ([]string, error) { return nil, nil }}); invalid == nil && is && !prefixed {
			t.Errorf("%q is a filter, and taken for the file %+v", side, r)
		}
	})
}

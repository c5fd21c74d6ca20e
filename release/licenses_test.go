package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree makes a folder with files, which say their own name.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := writeFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// names returns the files below a folder, ascending.
func names(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// TestCopyLegal: of a module go along the licences of all of its parts and its notices, and nothing else. A licence of a part alone is
// none of the module.
func TestCopyLegal(t *testing.T) {
	for _, c := range []struct {
		files []string
		want  string
		says  string
	}{
		{[]string{"LICENSE", "code.go", "license.go", "NOTICE.txt", "README.md"}, "LICENSE NOTICE.txt", ""},
		{[]string{"LICENSE.md", "inner/xxhash/LICENSE.txt", "testdata/LICENSE", "vendor/x/LICENSE"}, "LICENSE.md inner/xxhash/LICENSE.txt", ""},
		{[]string{"COPYING", "licenses/ftl.txt", "licensed.txt"}, "COPYING licenses/ftl.txt", ""},
		{[]string{"LICENCE-MIT", "LICENSE_APACHE", "PATENTS"}, "LICENCE-MIT LICENSE_APACHE PATENTS", ""},
		{[]string{"inner/LICENSE", "NOTICE"}, "NOTICE inner/LICENSE", "it has no licence"},
		{[]string{"code.go"}, "", "it has no licence"},
	} {
		to := t.TempDir()
		err := copyLegal(tree(t, c.files...), to)
		if (err == nil) != (c.says == "") || err != nil && err.Error() != c.says {
			t.Errorf("%v: %v, want %q", c.files, err, c.says)
		}
		if got := names(t, to); got != c.want {
			t.Errorf("%v: %s, want %s", c.files, got, c.want)
		}
	}
}

// TestDuckDBLicenses: every library that DuckDB's module has needs a licence of DuckDB's source; without the source a note names them.
func TestDuckDBLicenses(t *testing.T) {
	libraries := tree(t, "LICENSE", "libduckdb_static.a", "libduckdb_generated_extension_loader.a", "libduckdb_re2.a", "libduckdb_pg_query.a", "libicu_extension.a", "libjson_extension.a")
	source := []string{"LICENSE", "third_party/re2/LICENSE", "third_party/libpg_query/LICENSE", "extension/icu/third_party/icu/LICENSE", "src/main.cpp"}
	for _, c := range []struct {
		source     []string
		want, says string
	}{
		{source, "LICENSE extension/icu/third_party/icu/LICENSE third_party/libpg_query/LICENSE third_party/re2/LICENSE", ""},
		{source[:2], "", "licence of icu_extension, which DuckDB contains: "},
		{nil, "MISSING.txt", ""},
	} {
		to, from := t.TempDir(), ""
		if c.source != nil {
			from = tree(t, c.source...)
		}
		err := duckdbLicenses(libraries, from, "v1.5.6", to)
		if (err == nil) != (c.says == "") || err != nil && !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%v: %v, want %q", c.source, err, c.says)
		}
		if got := names(t, to); got != c.want {
			t.Errorf("%v: %s, want %s", c.source, got, c.want)
		}
		if c.source == nil {
			note, _ := os.ReadFile(filepath.Join(to, "MISSING.txt"))
			if want := "DuckDB v1.5.6 contains libraries of others: icu_extension, pg_query, re2.\n"; !strings.HasPrefix(string(note), want) {
				t.Errorf("the note is %s, want %s", note, want)
			}
		}
	}
}

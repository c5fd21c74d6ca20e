package storetest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func WriteFile(t testing.TB, name string, content []byte) {
	t.Helper()
	valuetest.OK(t, os.MkdirAll(filepath.Dir(name), 0o777))
	valuetest.OK(t, os.WriteFile(name, content, 0o666))
}

func CopyTree(t testing.TB, from, into string, zones ...string) {
	t.Helper()
	for _, zone := range zones {
		valuetest.OK(t, fs.WalkDir(os.DirFS(from), zone, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			content, err := os.ReadFile(filepath.Join(from, name))
			WriteFile(t, filepath.Join(into, name), content)
			return err
		}))
	}
}

// Copied returns a copy of a store.
func Copied(t testing.TB, dir string) string {
	t.Helper()
	into := filepath.Join(t.TempDir(), "copy")
	CopyTree(t, dir, into, ".")
	return into
}

// Snapshot returns the content of every file below a directory, and the time it was changed.
func Snapshot(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	valuetest.OK(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(&all, name, info.Mode(), info.ModTime())
		if e.IsDir() {
			return nil
		}
		content, err := os.ReadFile(name)
		fmt.Fprintf(&all, "%x\n", content)
		return err
	}))
	return all.String()
}

// ArtifactName returns the name of an artifact with that content.
func ArtifactName(content []byte) string {
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	return path.Join(schema.ArtifactsDir, sum[:2], sum)
}

// FlipByte changes a byte of a file.
func FlipByte(t testing.TB, name string) {
	t.Helper()
	content := valuetest.Must(os.ReadFile(name))
	content[len(content)/3] ^= 1
	valuetest.OK(t, os.WriteFile(name, content, 0o666))
}

// FlipFirst changes a byte of the first page of a file of a table: the ids of its runs. The text of an id is not looked for: a page may be
// compressed so that the footer alone has it.
func FlipFirst(t testing.TB, name string) {
	t.Helper()
	const at = 64 // the header of the page has some 30 bytes
	content := valuetest.Must(os.ReadFile(name))
	content[at] ^= 1
	valuetest.OK(t, os.WriteFile(name, content, 0o666))
}

package ingest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

// verifyHash checks a file against the hash that it carries of itself, as FORMAT.md says it is taken.
func verifyHash(content []byte) error {
	const slot, digits = "neurolens.sha256\x18\x40", 64
	at := bytes.LastIndex(content, []byte(slot)) + len(slot)
	if at < len(slot) || at+digits > len(content) {
		return errors.New("no hash in the file")
	}
	blank := bytes.Clone(content)
	said := string(content[at:][:digits])
	copy(blank[at:], strings.Repeat("0", digits))
	if sum := sha256.Sum256(blank); said != hex.EncodeToString(sum[:]) {
		return errors.New("the file differs from its hash")
	}
	return nil
}

// checkStore reads a whole store and gives how often each run is in it. Any file that is torn, damaged, misnamed or
// out of place is an error.
func checkStore(t *testing.T, dir string) map[string]int {
	t.Helper()
	listed, err := schema.List(os.DirFS(dir), schema.Scope{})
	mustDo(t, err, "listing the store")
	runs := map[string]int{}
	for _, f := range listed.Live {
		content := must(os.ReadFile(filepath.Join(dir, f.Path())))
		if err := verifyHash(content); err != nil {
			t.Fatalf("%s: %v", f.Path(), err)
		}
		if !bytes.Contains(content, []byte(f.Run.String())) {
			t.Fatalf("%s holds another run", f.Path())
		}
		runs[f.Run.String()] = 1
	}
	sealed := map[string]int{}
	for _, f := range listed.Sealed {
		for _, run := range checkSealed(t, dir, f) {
			sealed[run]++ // twice would be a mistake of the sealers; beside a live file it is not
			runs[run] = sealed[run]
		}
	}
	mustDo(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		_, liveErr := schema.ParseLiveFile(name)
		switch {
		case err != nil:
			return err
		case e.IsDir() || name == schema.HeaderFile || name == schema.IgnoreFile || liveErr == nil:
			return nil
		case path.Dir(name) == schema.TmpDir && strings.HasSuffix(name, disk.TempSuffix):
			return nil
		case path.Base(name) == schema.OwnerFile && (strings.HasPrefix(name, schema.LiveDir+"/") || strings.HasPrefix(name, schema.ClaimsDir+"/")):
			return nil
		case strings.HasPrefix(name, schema.ClaimsDir+"/") && (path.Base(name) == schema.PlanFile || disk.IsOut(path.Base(name))):
			return nil
		case strings.HasPrefix(name, schema.TrashDir+"/"):
			return nil
		case zoned(name):
			return nil
		}
		return fmt.Errorf("%s does not belong in a store", name)
	}))
	return runs
}

// zoned tells whether a name is that of a sealed file or a pack, in its folder.
func zoned(name string) bool {
	f, err := schema.ParseSealedFile(path.Base(name))
	zone, _, _ := strings.Cut(name, "/")
	return err == nil && f.Path(zone) == name && slices.Contains([]string{schema.RunsDir, schema.SamplesDir, schema.OpsDir, schema.PacksDir}, zone)
}

func newStore(t testing.TB) (*Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	mustDo(t, Init(dir))
	store := must(Open(dir, "test"))
	t.Cleanup(func() { _ = store.Close() })
	return store, dir
}

func mustAppend(t testing.TB, s *Store, runs ...schema.Run) {
	t.Helper()
	for _, r := range runs {
		mustDo(t, s.Append(r))
	}
}

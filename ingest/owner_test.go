package ingest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestOwner: the owner names host, process and namespace, and its hash is of the text before the hash.
func TestOwner(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	run := smallRun()
	run.Env.HostID = "h1"
	mustAppend(t, store, run)
	found := must(filepath.Glob(filepath.Join(dir, "live", "*", "owner.json")))
	valuetest.Equal(t, len(found), 1, found)
	text := must(os.ReadFile(found[0]))
	var o struct {
		sealing.Owner
		SHA256 string `json:"sha256"`
	}
	mustDo(t, json.Unmarshal(text, &o))
	valuetest.DeepEqual(t, []any{o.HostID, o.PID, o.Started.IsZero()}, []any{"h1", os.Getpid(), false}, "the owner", text)
	valuetest.Equal(t, strings.Trim(o.PIDNamespace, "0123456789"), "", "what is no digit in the inode", o.PIDNamespace)
	before, _, _ := strings.Cut(string(text), `,"sha256"`)
	valuetest.Equal(t, fmt.Sprintf("%x", sha256.Sum256([]byte(before+"}"))), o.SHA256, "the hash")
}

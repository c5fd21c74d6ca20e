package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest/internal/sealing"
)

// TestOwner: the owner names host, process and namespace, and its hash is of the text before the hash.
func TestOwner(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	run := smallRun()
	run.Env.HostID = "h1"
	mustAppend(t, store, run)
	found, err := filepath.Glob(filepath.Join(dir, "live", "*", "owner.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	var o struct {
		sealing.Owner
		SHA256 string `json:"sha256"`
	}
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	if o.HostID != "h1" || o.PID != os.Getpid() || o.Started.IsZero() {
		t.Errorf("the owner is %s", text)
	}
	if strings.Trim(o.PIDNamespace, "0123456789") != "" {
		t.Errorf("pid_namespace %q is no inode", o.PIDNamespace)
	}
	before, _, _ := strings.Cut(string(text), `,"sha256"`)
	if sum := sha256.Sum256([]byte(before + "}")); hex.EncodeToString(sum[:]) != o.SHA256 {
		t.Errorf("the hash of %s is wrong", text)
	}
}

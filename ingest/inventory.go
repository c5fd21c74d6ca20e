package ingest

import (
	"encoding/hex"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

// QuarantineDir is the directory of a store into which Repair sets aside what readers stumble over, under the same
// names. Nobody reads it.
const QuarantineDir = "quarantine"

// kind is what a file of a store is, by its name alone.
type kind int

const (
	kindForeign kind = iota // nothing that a store has; the only kind that a directory can be of
	kindHeader
	kindTemp
	kindLive // of one run, in a segment or a claim
	kindOwner
	kindPlan
	kindOut // of a claim, until it is linked into the store
	kindSealed
	kindPack
	kindPackedEvents
	kindEvent
	kindArtifact
	kindAside  // in TrashDir or QuarantineDir
	kindBroken // not what readers expect of the name: a link, a pipe, a directory under the name of a file
)

// stored is a file of a store and what its name says.
type stored struct {
	path   string
	zone   string // the first element of the path
	kind   kind
	live   schema.LiveFile   // of kindLive
	claim  schema.Claim      // of kindPlan and kindOut
	sealed schema.SealedFile // of kindSealed and kindPack
	id     schema.ULID       // of kindEvent and kindPackedEvents
	entry  fs.DirEntry       // nil where only the name is known
	linked bool              // it is a link
}

// zones are the directories of a store. A run goes from one to a later one, so that whoever lists them in this order
// meets it at least once; and what stands in runs/ has its samples and ops by then.
var zones = []string{
	schema.LiveDir, schema.ClaimsDir, schema.RunsDir, schema.SamplesDir, schema.OpsDir, schema.PacksDir, schema.EventsDir,
	schema.ArtifactsDir, schema.TmpDir, schema.TrashDir, QuarantineDir,
}

// isFolder tells whether a directory of that name can be in a store.
func isFolder(name string) bool {
	parts := strings.Split(name, "/")
	if len(parts) == 1 {
		return true // a zone, and in the other ones everything goes
	}
	switch zone := parts[0]; zone {
	case schema.TrashDir, QuarantineDir:
		return true
	case schema.ClaimsDir:
		_, err := schema.ParseClaim(parts[1])
		return err == nil && (len(parts) == 2 || len(parts) == 3 && isULID(parts[2]))
	case schema.LiveDir:
		return len(parts) == 2 && isULID(parts[1])
	case schema.RunsDir, schema.SamplesDir, schema.OpsDir, schema.PacksDir:
		_, err := time.Parse("2006-01", parts[1])
		return err == nil && len(parts) == 2
	case schema.ArtifactsDir:
		return len(parts) == 2 && len(parts[1]) == 2
	}
	return false
}

func isULID(text string) bool {
	_, err := schema.ParseULID(text)
	return err == nil
}

// classify tells what a file is by its path in the store.
func classify(name string) stored {
	zone, _, _ := strings.Cut(name, "/")
	s := stored{path: name, zone: zone}
	switch zone {
	case schema.HeaderFile:
		if name == zone {
			s.kind = kindHeader
		}
	case schema.TmpDir:
		if stem, ok := strings.CutSuffix(path.Base(name), disk.TempSuffix); ok && isULID(stem) && path.Dir(name) == zone {
			s.kind = kindTemp
		}
	case schema.TrashDir, QuarantineDir:
		s.kind = kindAside
	case schema.LiveDir, schema.ClaimsDir:
		s.classifyUnsealed()
	case schema.RunsDir, schema.SamplesDir, schema.OpsDir, schema.PacksDir:
		s.classifySealed()
	case schema.EventsDir:
		if id, err := schema.ParseEventFile(path.Base(name)); err == nil && schema.EventFile(id) == name {
			s.kind, s.id = kindEvent, id
		}
	case schema.ArtifactsDir:
		if artifactHash(name) != "" {
			s.kind = kindArtifact
		}
	}
	return s
}

func (s *stored) classifyUnsealed() {
	if f, err := schema.ParseLiveFile(s.path); err == nil {
		s.kind, s.live = kindLive, f
		return
	}
	dir, base := path.Split(s.path)
	dir = strings.TrimSuffix(dir, "/")
	if dir == s.zone || !isFolder(dir) {
		return
	}
	if base == schema.OwnerFile {
		s.kind = kindOwner
		return
	}
	c, err := schema.ParseClaim(path.Base(dir))
	if err != nil || c.Path() != dir {
		return
	}
	s.claim = c
	switch {
	case base == schema.PlanFile:
		s.kind = kindPlan
	case isOut(base):
		s.kind = kindOut
	}
}

func (s *stored) classifySealed() {
	base := path.Base(s.path)
	if f, err := schema.ParseSealedFile(base); err == nil && f.Path(s.zone) == s.path {
		s.kind, s.sealed = kindSealed, f
		if s.zone == schema.PacksDir {
			s.kind = kindPack
		}
		return
	}
	if id, err := schema.ParsePackedEvents(base); err == nil && schema.PackedEvents(id) == s.path {
		s.kind, s.id = kindPackedEvents, id
	}
}

// artifactHash is the SHA-256, in hex, that the name of an artifact says it has; empty where it is no such name.
func artifactHash(name string) string {
	parts := strings.Split(name, "/")
	if len(parts) != 3 || parts[0] != schema.ArtifactsDir {
		return ""
	}
	sum, _, _ := strings.Cut(parts[2], ".")
	if b, err := hex.DecodeString(sum); err != nil || len(b) != 32 || sum != strings.ToLower(sum) || sum[:2] != parts[1] {
		return ""
	}
	return sum
}

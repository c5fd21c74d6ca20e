package disk

import (
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// QuarantineDir is the directory of a store into which a repair moves damaged files, under their old paths. No reader opens it.
const QuarantineDir = "quarantine"

// Kind is the kind of a file in a store, by its name alone.
type Kind int

// The kinds of files.
const (
	KindForeign Kind = iota // it does not belong to a store; the only kind that a directory can have
	KindHeader
	KindTemp
	KindLive // one run, in a segment or a claim
	KindOwner
	KindPlan
	KindOut // written by a sealer in a claim, before it is linked into the store
	KindSealed
	KindPack
	KindPackedEvents
	KindRunSet
	KindFolderSizes
	KindEvent
	KindArtifact
	KindAside  // in TrashDir or QuarantineDir
	KindBroken // a wrong type of file for its name: a link, a pipe, a directory with the name of a file
)

// StoreFile is a file of a store, with the information in its name.
type StoreFile struct {
	Path   string
	Zone   string // the first element of the path
	Kind   Kind
	Live   schema.LiveFile   // of KindLive
	Claim  schema.Claim      // of KindPlan and KindOut
	Sealed schema.SealedFile // of KindSealed and KindPack
	ID     schema.ULID       // of KindEvent, KindPackedEvents, KindRunSet and KindFolderSizes
	Entry  fs.DirEntry       // nil if only the name is known
	Linked bool              // it is a link
}

// Zones are the directories of a store. A run moves from one to a later one, so a listing in this order finds it at least
// once. When a run is in runs/, its samples and ops are already in their directories.
var Zones = []string{
	schema.LiveDir, schema.ClaimsDir, schema.RunsDir, schema.SamplesDir, schema.OpsDir, schema.PacksDir, schema.EventsDir,
	schema.ArtifactsDir, schema.TmpDir, schema.TrashDir, QuarantineDir,
}

// IsFolder reports whether a store can have a directory of that name.
func IsFolder(name string) bool {
	parts := strings.Split(name, "/")
	if len(parts) == 1 {
		return true // a zone, or inside of one that may have any directories
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

// Classify returns the kind of a file by its path in the store.
func Classify(name string) StoreFile {
	zone, _, _ := strings.Cut(name, "/")
	s := StoreFile{Path: name, Zone: zone}
	switch zone {
	case schema.HeaderFile:
		if name == zone {
			s.Kind = KindHeader
		}
	case schema.TmpDir:
		if stem, ok := strings.CutSuffix(path.Base(name), TempSuffix); ok && isULID(stem) && path.Dir(name) == zone {
			s.Kind = KindTemp
		}
	case schema.TrashDir, QuarantineDir:
		s.Kind = KindAside
	case schema.LiveDir, schema.ClaimsDir:
		s.classifyUnsealed()
	case schema.RunsDir, schema.SamplesDir, schema.OpsDir, schema.PacksDir:
		s.classifySealed()
	case schema.EventsDir:
		if id, err := schema.ParseEventFile(path.Base(name)); err == nil && schema.EventFile(id) == name {
			s.Kind, s.ID = KindEvent, id
		}
	case schema.ArtifactsDir:
		if ArtifactHash(name) != "" {
			s.Kind = KindArtifact
		}
	}
	return s
}

func (s *StoreFile) classifyUnsealed() {
	if f, err := schema.ParseLiveFile(s.Path); err == nil {
		s.Kind, s.Live = KindLive, f
		return
	}
	dir, base := path.Split(s.Path)
	dir = strings.TrimSuffix(dir, "/")
	if dir == s.Zone || !IsFolder(dir) {
		return
	}
	if base == schema.OwnerFile {
		s.Kind = KindOwner
		return
	}
	c, err := schema.ParseClaim(path.Base(dir))
	if err != nil || c.Path() != dir {
		return
	}
	s.Claim = c
	switch {
	case base == schema.PlanFile:
		s.Kind = KindPlan
	case IsOut(base):
		s.Kind = KindOut
	}
}

func (s *StoreFile) classifySealed() {
	base := path.Base(s.Path)
	if f, err := schema.ParseSealedFile(base); err == nil && f.Path(s.Zone) == s.Path {
		s.Kind, s.Sealed = KindSealed, f
		if s.Zone == schema.PacksDir {
			s.Kind = KindPack
		}
		return
	}
	if id, err := schema.ParsePackedEvents(base); err == nil && schema.PackedEvents(id) == s.Path {
		s.Kind, s.ID = KindPackedEvents, id
	}
	if id, err := schema.ParseRunSetFile(base); err == nil && schema.RunSetFile(id) == s.Path {
		s.Kind, s.ID = KindRunSet, id
	}
	if id, err := schema.ParseFolderSizesFile(base); err == nil && schema.FolderSizesFile(id) == s.Path {
		s.Kind, s.ID = KindFolderSizes, id
	}
}

// ArtifactHash returns the SHA-256, in hex, in the name of an artifact. It is empty if the name is not one of an artifact.
func ArtifactHash(name string) string {
	parts := strings.Split(name, "/")
	if len(parts) != 3 || parts[0] != schema.ArtifactsDir {
		return ""
	}
	sum, _, _ := strings.Cut(parts[2], ".")
	if !schema.IsHash(sum) || sum[:2] != parts[1] {
		return ""
	}
	return sum
}

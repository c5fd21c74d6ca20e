package schema

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// MissingArtifact begins the names under which a run says, in Env.Missing, why a file is not kept; its path follows.
const MissingArtifact = "artifact."

// artifactSuffix ends the name of an artifact that is stored as a zstd frame.
const artifactSuffix = ".zst"

// ArtifactPath is the path in a store of an artifact that is stored as a zstd frame. Its name is the SHA-256 of the frame,
// in hex, which Artifact.SHA256 has; of a text that is none it is empty.
func ArtifactPath(sha256 string) string {
	if !IsHash(sha256) {
		return ""
	}
	return path.Join(ArtifactsDir, sha256[:2], sha256+artifactSuffix)
}

// FindArtifact gives the path in a store of what is stored of an artifact: a zstd frame (see IsFrame), or the file itself under
// any other ending. The error wraps fs.ErrNotExist where there is none.
func FindArtifact(store fs.FS, sha256 string) (string, error) {
	name := ArtifactPath(sha256)
	if name == "" {
		return "", fs.ErrNotExist
	}
	_, err := fs.Stat(store, name)
	if !errors.Is(err, fs.ErrNotExist) {
		return name, err
	}
	entries, missing := fs.ReadDir(store, path.Dir(name))
	for _, e := range entries {
		if stem, _, _ := strings.Cut(e.Name(), "."); stem == sha256 {
			return path.Join(path.Dir(name), e.Name()), nil
		}
	}
	if missing != nil && !errors.Is(missing, fs.ErrNotExist) {
		err = missing
	}
	return "", err
}

// IsFrame tells whether an artifact is stored as a zstd frame.
func IsFrame(name string) bool { return path.Ext(name) == artifactSuffix }

// artifactsColumn is the column of Runs with the artifacts.
var artifactsColumn = slices.IndexFunc(Runs.Columns, func(c *Column) bool { return c.Name == "artifacts" })

// ArtifactsOf are the artifacts of a row of Runs.
func ArtifactsOf(row []any) []Artifact {
	return artifactsOf(take[[][]any](&cursor{row: row, next: artifactsColumn}))
}

// IsHash tells whether a text is a SHA-256 in hex, in lower case.
func IsHash(text string) bool {
	b, err := hex.DecodeString(text)
	return err == nil && len(b) == 32 && text == strings.ToLower(text)
}

// areHashes tells whether a text is hashes with one space between them.
func areHashes(text string) bool {
	for hash := range strings.SplitSeq(text, " ") {
		if !IsHash(hash) {
			return false
		}
	}
	return true
}

// PrunedArtifacts tells when artifacts were removed from a store last, by their hashes. One of them may be there again: a
// later run has left the same bytes, or a merge has brought them.
func PrunedArtifacts(events []Event) map[string]time.Time {
	pruned := map[string]time.Time{}
	for i := range events {
		e := &events[i]
		if e.Kind != EventPrune {
			continue
		}
		for hash := range strings.SplitSeq(e.Value, " ") {
			if pruned[hash].Before(e.At) {
				pruned[hash] = e.At
			}
		}
	}
	return pruned
}

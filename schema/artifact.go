package schema

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"
)

// MissingArtifact is the prefix of the keys in Env.Missing that say why a file was not kept. The path of the file
// follows.
const MissingArtifact = "artifact."

// artifactSuffix is the ending of an artifact that is stored as a zstd frame.
const artifactSuffix = ".zst"

// ArtifactPath returns the path in a store of an artifact that is stored as a zstd frame. sha256 is Artifact.SHA256: the
// SHA-256 of the frame, in hex. The path is empty if sha256 is not such a hash.
func ArtifactPath(sha256 string) string {
	if !IsHash(sha256) {
		return ""
	}
	return path.Join(ArtifactsDir, sha256[:2], sha256+artifactSuffix)
}

// FindArtifact returns the path of an artifact in a store. The file is a zstd frame (see IsFrame) or, with any other ending, the
// artifact itself. The error wraps fs.ErrNotExist if the store does not have it.
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

// IsFrame reports whether an artifact is stored as a zstd frame.
func IsFrame(name string) bool { return path.Ext(name) == artifactSuffix }

// IsArtifactKind reports whether a text can be the kind of an artifact: a word of up to 64 letters, digits and _ . -, which begins with
// a letter or a digit. Programs use kinds in the names of files and folders.
func IsArtifactKind(text string) bool {
	for i, c := range []byte(text) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case i > 0 && (c == '_' || c == '.' || c == '-'):
		default:
			return false
		}
	}
	return text != "" && len(text) <= 64
}

// ArtifactsOf returns the artifacts in a row of Runs.
func ArtifactsOf(row []any) (all []Artifact) {
	setField(&all, row[Runs.Place("artifacts")])
	return all
}

// IsHash reports whether a text is a SHA-256 in lower-case hex.
func IsHash(text string) bool {
	b, err := hex.DecodeString(text)
	return err == nil && len(b) == 32 && text == strings.ToLower(text)
}

// areHashes reports whether a text is a list of hashes, separated by one space.
func areHashes(text string) bool {
	for hash := range strings.SplitSeq(text, " ") {
		if !IsHash(hash) {
			return false
		}
	}
	return true
}

// PrunedArtifacts returns, by hash, the time at which each artifact was last removed from a store to save room. Such an artifact may be
// stored again: by a later run that produced the same bytes, or by a merge.
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

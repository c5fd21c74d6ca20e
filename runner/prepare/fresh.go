package prepare

import (
	"context"
	"io/fs"
	"maps"
	"os"
)

// Fresh is the current target of a subject. It is prepared again if a hashed file has changed.
func (t *Targets) Fresh(ctx context.Context, sub Subject) *Target {
	if t.forgetChanged() {
		maps.Copy(t.stale, t.known)
		clear(t.known)
	}
	target := t.Of(ctx, sub)
	if old := t.stale[sub]; old != nil {
		target.Changed = old.Changed || !sameCode(old, target)
		delete(t.stale, sub)
	}
	return target
}

// sameCode reports whether two targets of a subject run the same files.
func sameCode(a, b *Target) bool {
	for _, fact := range CodeFacts() {
		if a.Facts[fact] != b.Facts[fact] {
			return false
		}
	}
	return a.ModelSHA256 == b.ModelSHA256 && maps.Equal(a.fileHashes(), b.fileHashes())
}

// forgetChanged forgets the hashes of files that have changed, and reports whether there were any.
func (t *Targets) forgetChanged() bool {
	changed := false
	for path, known := range t.hashes {
		if !sameFile(known.file, infoOf(path)) {
			delete(t.hashes, path)
			changed = true
		}
	}
	return changed
}

// infoOf is what is known of a file without reading it; nil if it is not there.
func infoOf(path string) fs.FileInfo {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return info
}

// sameFile reports whether a file was neither replaced nor, by its size and time, written.
func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

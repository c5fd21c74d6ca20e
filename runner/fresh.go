package runner

import (
	"context"
	"io/fs"
	"os"
)

// WarnFileChanged is the word of warning of a run whose file, model or program changed in its session: before it,
// so that runs of the same point measured something else, or while it ran. The run has the hash of what it began with.
const WarnFileChanged = "file_changed"

// fresh is the target of a subject as it is now. It is prepared anew if a file that was hashed has changed since.
func (s *session) fresh(ctx context.Context, sub subject) *target {
	if s.host.forgetChanged() {
		for sub, t := range s.host.targets {
			s.host.stale[sub] = t
		}
		clear(s.host.targets)
	}
	t := s.target(ctx, sub)
	if old := s.host.stale[sub]; old != nil {
		t.changed = old.changed || !sameCode(old, t)
		delete(s.host.stale, sub)
	}
	return t
}

// sameCode tells that two targets of a subject run the same files.
func sameCode(a, b *target) bool {
	for _, fact := range identityFacts {
		if a.facts[fact] != b.facts[fact] {
			return false
		}
	}
	return a.modelSHA256 == b.modelSHA256
}

// forgetChanged forgets the hashes of files that are no longer what was hashed, and tells if there were any.
func (h *host) forgetChanged() bool {
	changed := false
	for path, known := range h.hashes {
		if !sameFile(known.file, infoOf(path)) {
			delete(h.hashes, path)
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

// sameFile tells that a file was not replaced and, by its size and time, not written.
func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

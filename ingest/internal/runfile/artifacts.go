package runfile

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

// CopyArtifacts copies the artifacts that a store lacks, and returns their number. It calls refuse for an artifact that
// does not match its name. Artifacts that were pruned here after the other store got them are not copied; pruned has the
// times by hash.
func CopyArtifacts(ctx context.Context, from fs.FS, into disk.Files, pruned map[string]time.Time, refuse func(name string, err error)) (copied, left int, err error) {
	if there, err := disk.Exists(from, schema.ArtifactsDir); err != nil || !there {
		return 0, 0, err
	}
	refused := func(err error) error {
		if in, ok := errors.AsType[*FileError](err); ok && errors.Is(err, schema.ErrDamaged) {
			refuse(in.Path, in.Err)
			return nil
		}
		return err
	}
	dirs := map[string]bool{}
	err = disk.WalkZone(from, schema.ArtifactsDir, func(s disk.StoreFile) error {
		if s.Kind == disk.KindBroken {
			return refused(Damagedf(s.Path, "it is not a regular file or directory"))
		}
		if s.Kind != disk.KindArtifact {
			return ctx.Err()
		}
		there, err := disk.Exists(into, s.Path)
		if err != nil {
			return err
		}
		if there { // its writer may have died before the fsync
			dirs[path.Dir(s.Path)] = true
			return nil
		}
		if unwanted, err := prunedSince(s, pruned); unwanted || err != nil {
			left++
			return err
		}
		if err := CheckArtifact(from, s.Path); err != nil {
			return refused(InFile(s.Path, err))
		}
		dir := path.Dir(s.Path)
		if !dirs[dir] {
			if err := disk.MakeDirs(into, dir); err != nil {
				return err
			}
			dirs[dir] = true
		}
		copied++
		return disk.CopyFile(from, into, s.Path)
	})
	for dir := range dirs {
		if err == nil {
			err = disk.SyncDir(into, dir)
		}
	}
	return copied, left, err
}

// prunedSince reports whether an artifact was pruned elsewhere after it was stored here.
func prunedSince(s disk.StoreFile, pruned map[string]time.Time) (bool, error) {
	at, gone := pruned[disk.ArtifactHash(s.Path)]
	if !gone {
		return false, nil
	}
	info, err := s.Entry.Info()
	return err == nil && info.ModTime().Before(at), err
}

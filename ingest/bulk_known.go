package ingest

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// dropKnown removes the runs that are already in the store. Skipping a run acknowledges it, but its writer may have died
// before the last fsync, so that fsync is repeated here.
func (b *bulk) dropKnown() (dropped Appended, err error) {
	if len(b.runs) == 0 {
		return dropped, nil
	}
	ids := make([]schema.ULID, len(b.runs))
	for i := range b.runs {
		ids[i] = b.runs[i].id
	}
	known, err := b.known(ids)
	for attempt := 1; errors.Is(err, runfile.ErrMoved) && attempt < runfile.MaxMoves; attempt++ {
		known, err = b.known(ids)
	}
	if err != nil {
		return dropped, err
	}
	b.runs = slices.DeleteFunc(b.runs, func(r *bulkRun) bool {
		digest, there := known[r.id]
		if there {
			dropped.skip(r, digest)
		}
		return there
	})
	return dropped, nil
}

// dropDoubled removes runs that appear earlier in the batch, which is sorted.
func (b *bulk) dropDoubled() (dropped Appended) {
	kept := b.runs[:0]
	for _, r := range b.runs {
		if n := len(kept); n > 0 && kept[n-1].id == r.id {
			dropped.skip(r, schema.DigestOf(&kept[n-1].run))
			continue
		}
		kept = append(kept, r)
	}
	b.runs = kept
	return dropped
}

// skip counts a run that the store or an earlier part of the input has, with a digest that begins with has.
func (a *Appended) skip(r *bulkRun, digest string) {
	a.Skipped++
	if !strings.HasPrefix(schema.DigestOf(&r.run), digest) {
		a.Differing++
	}
}

// known gives the runs, of those given in ascending order, that are in the store and on disk, with the beginnings of
// their digests. It fails with errMoved if one of them is being sealed.
func (b *bulk) known(ids []schema.ULID) (map[schema.ULID]string, error) {
	// Live runs are looked up first, because they move to sealed files. The sealed files of the listing are not used.
	listing, err := schema.List(b.files, schema.Scope{Newest: 1})
	if err != nil {
		return nil, err
	}
	known := map[schema.ULID]string{}
	for _, f := range listing.Live {
		if _, found := slices.BinarySearchFunc(ids, f.Run, schema.ULID.Compare); found {
			if known[f.Run], err = b.live(f); err != nil {
				return nil, err
			}
		}
	}
	near, err := runfile.Near(b.files, ids)
	if err != nil {
		return nil, err
	}
	live := len(known)
	for _, sealed := range near {
		if b.seen.files[sealed] {
			continue
		}
		if err := b.look(sealed, ids, known); err != nil {
			return nil, err
		}
	}
	b.seen.find(ids, known)
	if len(known) > live {
		return known, b.syncSealed(schema.MonthOf(ids[0].Time()))
	}
	return known, nil
}

// look adds the digests of those runs that a sealed file contains, or remembers its content.
func (b *bulk) look(sealed schema.SealedFile, ids []schema.ULID, known map[schema.ULID]string) error {
	if !b.seen.takes(sealed.Rows) {
		return runfile.ReadDigests(b.files, sealed, ids, known)
	}
	if err := runfile.EachDigest(b.files, sealed, b.seen.add); err != nil {
		return err
	}
	b.seen.files[sealed] = true
	return nil
}

// live is the digest of a live run on disk, or empty if the run cannot be read.
func (b *bulk) live(f schema.LiveFile) (digest string, err error) {
	if err := b.sync(path.Dir(f.Path())); err != nil {
		return "", runfile.Moved(err)
	}
	switch live, err := runfile.ReadLiveFile(b.files, f); {
	case err == nil:
		return live.Digest, nil
	case runfile.AboutContent(err):
		return "", nil
	default:
		return "", runfile.Moved(err)
	}
}

// seenFiles are the runs of sealed files that were read or written. Without them, ids that carry no time would make every
// batch read all files again.
type seenFiles struct {
	files map[schema.SealedFile]bool
	runs  map[schema.ULID]shortDigest
}

// shortDigest is the beginning of a digest. It is short because very many are held in memory.
type shortDigest [8]byte

// takes reports whether so many more runs fit into memory. A run takes some 40 bytes.
func (s *seenFiles) takes(runs int) bool {
	const limit = 2 << 20
	return len(s.runs)+runs <= limit
}

func (s *seenFiles) add(run schema.ULID, digest string) {
	var short shortDigest
	_, _ = hex.Decode(short[:], []byte(digest[:min(len(digest), hex.EncodedLen(len(short)))]))
	s.runs[run] = short
}

// find adds those runs that the files contain, with the beginnings of their digests.
func (s *seenFiles) find(runs []schema.ULID, known map[schema.ULID]string) {
	for _, id := range runs {
		if short, there := s.runs[id]; there {
			known[id] = hex.EncodeToString(short[:])
		}
	}
}

// syncSealed fsyncs the folders of sealed files that can contain a run of that month.
func (b *bulk) syncSealed(oldest string) error {
	for _, t := range runfile.Tables {
		zone := schema.TableZones[t]
		folders, err := fs.ReadDir(b.files, zone)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, folder := range folders {
			if folder.Name() < oldest || !folder.IsDir() {
				continue
			}
			if err := b.sync(path.Join(zone, folder.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// sync fsyncs a directory, once.
func (b *bulk) sync(dir string) error {
	if b.synced[dir] {
		return nil
	}
	err := disk.SyncDir(b.files, dir)
	b.synced[dir] = err == nil
	return err
}

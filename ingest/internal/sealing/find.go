package sealing

import (
	"errors"
	"path"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// Find searches for a run whose append failed after it may have got its name: its segment may be in a claim by now, or sealed. It fails
// if a different run with this id exists. A run that is found is on disk.
func (s *Sealer) Find(run schema.ULID, content []byte) (bool, error) {
	want, err := table.ReadLive(content)
	if err != nil {
		return false, err
	}
	listed, err := schema.List(s.Files, schema.Scope{Since: run.Time()})
	if err != nil {
		return false, err
	}
	digest := ""
	if at := slices.IndexFunc(listed.Live, func(f schema.LiveFile) bool { return f.Run == run }); at >= 0 {
		there, err := runfile.ReadLiveFile(s.Files, listed.Live[at])
		if err == nil {
			digest, err = there.Digest, disk.SyncDir(s.Files, path.Dir(listed.Live[at].Path()))
		}
		if err != nil {
			return false, err
		}
	} else {
		known, err := runfile.Digests(s.Files, []schema.ULID{run})
		if err != nil {
			return false, err
		}
		if digest = known[run]; digest == "" {
			return false, nil
		}
	}
	if digest != want.Digest {
		return false, errors.New("the store has a different run with this id")
	}
	return true, nil
}

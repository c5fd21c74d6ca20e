package ingest

import (
	"errors"
	"path"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/table"
	"github.com/neurolens/neurolens/schema"
)

// find looks for a run whose appending failed after it may have got its name: its segment may be in a claim by now, or
// sealed. It fails where another run of this id is there. A run that is found is on disk.
func (s *sealer) find(run schema.ULID, content []byte) (bool, error) {
	want, err := table.ReadLive(content)
	if err != nil {
		return false, err
	}
	listed, err := schema.List(s.files, schema.Scope{Since: run.Time()})
	if err != nil {
		return false, err
	}
	digest := ""
	if at := slices.IndexFunc(listed.Live, func(f schema.LiveFile) bool { return f.Run == run }); at >= 0 {
		there, err := runfile.ReadLiveFile(s.files, listed.Live[at])
		if err == nil {
			digest, err = there.Digest, disk.SyncDir(s.files, path.Dir(listed.Live[at].Path()))
		}
		if err != nil {
			return false, err
		}
	} else {
		known, err := runfile.Digests(s.files, []schema.ULID{run})
		if err != nil {
			return false, err
		}
		if digest = known[run]; digest == "" {
			return false, nil
		}
	}
	if digest != want.Digest {
		return false, errors.New("the store holds another run with this id")
	}
	return true, nil
}

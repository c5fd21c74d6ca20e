package query

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// ArtifactState is the state of a file that a run produced.
type ArtifactState string

// The states.
const (
	ArtifactStored  ArtifactState = "stored"   // it is in the store
	ArtifactNotKept ArtifactState = "not_kept" // it was not stored, on request or because it could not be
	ArtifactPruned  ArtifactState = "pruned"   // it was removed from the store to save space
	ArtifactMissing ArtifactState = "missing"  // it should be in the store, and is not
)

// Artifact is a file that a run produced.
type Artifact struct {
	schema.Artifact
	State  ArtifactState
	Reason string     // why it is not kept; empty: it is kept, or the reason is unknown
	Pruned *time.Time // when it was removed from the store
	Stored *int64     // size in the store, in bytes

	store schema.Dir // the store that has it
	name  string     // its name in the store
}

// Artifacts returns the artifacts of a run, in the order of the run.
func Artifacts(ctx context.Context, db *DB, run *schema.Run) ([]Artifact, error) {
	all := make([]Artifact, len(run.Artifacts))
	gone := false
	for i, a := range run.Artifacts {
		all[i] = Artifact{Artifact: a, State: ArtifactNotKept, Reason: run.Env.Missing[schema.MissingArtifact+a.Path]}
		if !schema.IsHash(a.SHA256) {
			continue
		}
		if err := all[i].find(db.Stores()); err != nil {
			return nil, err
		}
		gone = gone || all[i].State == ArtifactMissing
	}
	if !gone {
		return all, ctx.Err()
	}
	pruned, err := prunedFrom(db.Stores())
	for i := range all {
		if at, said := pruned[all[i].SHA256]; said && all[i].State == ArtifactMissing {
			all[i].State, all[i].Pruned = ArtifactPruned, &at
		}
	}
	return all, err
}

// find looks for an artifact in the stores.
func (a *Artifact) find(stores *scan.Stores) error {
	a.State = ArtifactMissing
	for _, path := range stores.Paths() {
		name, err := schema.FindArtifact(schema.Dir(path), a.SHA256)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var info fs.FileInfo
		if err == nil {
			info, err = schema.Dir(path).Stat(name)
		}
		if err != nil {
			return fmt.Errorf("finding the artifact %s: %w", a.Path, err)
		}
		a.State, a.store, a.name, a.Stored = ArtifactStored, schema.Dir(path), name, new(info.Size())
		return nil
	}
	return nil
}

// prunedFrom returns when artifacts were removed from stores, by hash.
func prunedFrom(stores *scan.Stores) (map[string]time.Time, error) {
	var events []schema.Event
	for _, path := range stores.Paths() {
		listing, err := schema.List(schema.Dir(path), schema.Scope{Newest: 1})
		if err != nil {
			return nil, err
		}
		more, err := scan.ReadEvents(schema.Dir(path), listing.Events)
		if err != nil {
			return nil, err
		}
		for _, e := range more {
			events = append(events, e.Event)
		}
	}
	return schema.PrunedArtifacts(events), nil
}

// ArtifactFields returns the columns of artifacts.
func ArtifactFields() []answer.Field[Artifact] {
	size := func(name, meaning string, of func(*Artifact) *int64) answer.Field[Artifact] {
		return answer.NewField(name, answer.TypeInteger, meaning, func(a *Artifact) any { return answer.Value(of(a)) }).In("B")
	}
	return []answer.Field[Artifact]{
		answer.TextField("path", "name of the file: stdout, stderr, or a path relative to the run's working directory; run_dir/... for files in the directory made for the run", func(a *Artifact) string { return a.Path }),
		answer.TextField("kind", "file, stdout, stderr, profile, or a kind that another tool uses", func(a *Artifact) string { return a.Kind }),
		size("bytes", "original size of the file", func(a *Artifact) *int64 { return a.Bytes }),
		answer.TextField("state", "stored, not_kept, pruned (removed to save space), or missing (it should be there)", func(a *Artifact) string { return string(a.State) }),
		answer.TextField("reason", "why it is not kept", func(a *Artifact) string { return a.Reason }),
		answer.NewField("pruned_at", answer.TypeTime, "when it was removed from the store", func(a *Artifact) any { return answer.Value(a.Pruned) }),
		size("stored_bytes", "compressed size in the store", func(a *Artifact) *int64 { return a.Stored }),
		answer.TextField("sha256", "hash of the content, and its name in artifacts/", func(a *Artifact) string { return a.SHA256 }),
	}
}

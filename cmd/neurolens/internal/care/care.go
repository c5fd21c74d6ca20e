// Package care has the columns of the answers of commands that look after a store: merge, compact and prune-artifacts.
package care

import (
	"github.com/neurolens/neurolens/cmd/neurolens/internal/damage"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/query/answer"
)

// counted is a column with a number.
func counted[Row any](name, meaning string, of func(*Row) int) answer.Field[Row] {
	return answer.NewField(name, answer.TypeInteger, meaning, func(r *Row) any { return int64(of(r)) })
}

// BroughtIn is a store or folder whose runs were merged.
type BroughtIn struct {
	From string
	Done ingest.Merged
}

// MergeFields are the columns of store merge and of store unquarantine; the first has the name of its own.
func MergeFields(first string) []answer.Field[BroughtIn] {
	return []answer.Field[BroughtIn]{
		answer.NewField(first, answer.TypeText, "folder that the runs come from", func(b *BroughtIn) any { return b.From }),
		counted("added", "runs that were added", func(b *BroughtIn) int { return b.Done.Added }),
		counted("skipped", "runs that are here already", func(b *BroughtIn) int { return b.Done.Skipped }),
		counted("refused", "damaged files, and runs that are here with other values under the same id; standard error names each", func(b *BroughtIn) int { return b.Done.Refused }),
		counted("events", "events that were added, such as tags and removals", func(b *BroughtIn) int { return b.Done.Events }),
		counted("artifacts", "stored files of runs that were added", func(b *BroughtIn) int { return b.Done.Artifacts }),
		counted("pruned", "stored files of the other store that were pruned here and stay so", func(b *BroughtIn) int { return b.Done.Pruned }),
		counted("healed", "runs here that got back samples or operators which they had lost to damage", func(b *BroughtIn) int { return b.Done.Healed }),
	}
}

// CompactedStore is a new store that store compact made.
type CompactedStore struct {
	Into string
	Done ingest.Compacted
}

// CompactFields are the columns of store compact.
func CompactFields() []answer.Field[CompactedStore] {
	return append([]answer.Field[CompactedStore]{
		answer.NewField("store", answer.TypeText, "folder of the new store", func(c *CompactedStore) any { return c.Into }),
		counted("runs", "runs in the new store", func(c *CompactedStore) int { return c.Done.Runs }),
		counted("removed", "removed runs, which are not in the new store", func(c *CompactedStore) int { return c.Done.Removed }),
		counted("files", "sealed files of the new store, one per month", func(c *CompactedStore) int { return c.Done.Files }),
		counted("events", "events in the new store", func(c *CompactedStore) int { return c.Done.Events }),
	}, damage.Fields(func(c *CompactedStore) check.Loss { return c.Done.Loss })...)
}

// PrunedStore is a store from which stored files of old runs were removed.
type PrunedStore struct {
	Store  string
	DryRun bool
	Done   ingest.Pruned
}

// PruneFields are the columns of store prune-artifacts.
func PruneFields() []answer.Field[PrunedStore] {
	bytes := func(name, meaning string, of func(*PrunedStore) any) answer.Field[PrunedStore] {
		f := answer.NewField(name, answer.TypeInteger, meaning, of)
		f.Unit = "B"
		return f
	}
	return []answer.Field[PrunedStore]{
		answer.NewField("store", answer.TypeText, "folder of the store", func(p *PrunedStore) any { return p.Store }),
		answer.NewField("dry_run", answer.TypeBoolean, "true if nothing was removed (--dry-run): the numbers are those that a removal would have", func(p *PrunedStore) any { return p.DryRun }),
		counted("removed", "files that were removed", func(p *PrunedStore) int { return p.Done.Files }),
		bytes("removed_bytes", "size of the removed files, as stored", func(p *PrunedStore) any { return p.Done.Bytes }),
		counted("left", "files that remain", func(p *PrunedStore) int { return p.Done.Left }),
		bytes("left_bytes", "size of the files that remain, as stored", func(p *PrunedStore) any { return p.Done.LeftBytes }),
		counted("left_too_new", "remaining files that no younger run has, but that were stored within the last day", func(p *PrunedStore) int { return p.Done.Young }),
	}
}

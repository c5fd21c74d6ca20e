package main

import (
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/query/answer"
)

// counted is a column with a number.
func counted[Row any](name, meaning string, of func(*Row) int) answer.Field[Row] {
	return answer.NewField(name, answer.TypeInteger, meaning, func(r *Row) any { return int64(of(r)) })
}

// mergedRow is a store or folder whose runs were merged.
type mergedRow struct {
	From string
	Done ingest.Merged
}

// mergeFields are the columns of store merge and of store unquarantine; the first has the name of its own.
func mergeFields(first string) []answer.Field[mergedRow] {
	return []answer.Field[mergedRow]{
		answer.NewField(first, answer.TypeText, "folder that the runs come from", func(b *mergedRow) any { return b.From }),
		counted("added", "runs that were added", func(b *mergedRow) int { return b.Done.Added }),
		counted("skipped", "runs that are here already", func(b *mergedRow) int { return b.Done.Skipped }),
		counted("refused", "damaged files, and runs that are here with other values under the same id; standard error names each", func(b *mergedRow) int { return b.Done.Refused }),
		counted("events", "events that were added, such as tags and removals", func(b *mergedRow) int { return b.Done.Events }),
		counted("artifacts", "stored files of runs that were added", func(b *mergedRow) int { return b.Done.Artifacts }),
		counted("pruned", "stored files of the other store that were pruned here and stay so", func(b *mergedRow) int { return b.Done.Pruned }),
		counted("healed", "runs here that got back samples or operators which they had lost to damage", func(b *mergedRow) int { return b.Done.Healed }),
	}
}

// compactedRow is a new store that store compact made.
type compactedRow struct {
	Into string
	Done ingest.Compacted
}

// compactFields are the columns of store compact.
func compactFields() []answer.Field[compactedRow] {
	return append([]answer.Field[compactedRow]{
		answer.NewField("store", answer.TypeText, "folder of the new store", func(c *compactedRow) any { return c.Into }),
		counted("runs", "runs in the new store", func(c *compactedRow) int { return c.Done.Runs }),
		counted("removed", "removed runs, which are not in the new store", func(c *compactedRow) int { return c.Done.Removed }),
		counted("files", "sealed files of the new store, one per month", func(c *compactedRow) int { return c.Done.Files }),
		counted("events", "events in the new store", func(c *compactedRow) int { return c.Done.Events }),
	}, views.LossFields(func(c *compactedRow) check.Loss { return c.Done.Loss })...)
}

// prunedRow is a store from which stored files of old runs were removed.
type prunedRow struct {
	Store  string
	DryRun bool
	Done   ingest.Pruned
}

// pruneFields are the columns of store prune-artifacts.
func pruneFields() []answer.Field[prunedRow] {
	bytes := func(name, meaning string, of func(*prunedRow) any) answer.Field[prunedRow] {
		f := answer.NewField(name, answer.TypeInteger, meaning, of)
		f.Unit = "B"
		return f
	}
	return []answer.Field[prunedRow]{
		answer.NewField("store", answer.TypeText, "folder of the store", func(p *prunedRow) any { return p.Store }),
		answer.NewField("dry_run", answer.TypeBoolean, "true if nothing was removed (--dry-run): the numbers are those that a removal would have", func(p *prunedRow) any { return p.DryRun }),
		counted("removed", "files that were removed", func(p *prunedRow) int { return p.Done.Files }),
		bytes("removed_bytes", "size of the removed files, as stored", func(p *prunedRow) any { return p.Done.Bytes }),
		counted("left", "files that remain", func(p *prunedRow) int { return p.Done.Left }),
		bytes("left_bytes", "size of the files that remain, as stored", func(p *prunedRow) any { return p.Done.LeftBytes }),
		counted("left_too_new", "remaining files that no younger run has, but that were stored within the last day", func(p *prunedRow) int { return p.Done.Young }),
	}
}

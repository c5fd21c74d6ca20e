package main

import (
	"github.com/neurolens/neurolens/cmd/neurolens/internal/damage"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/query/answer"
)

// storeField is a column of the answer of a command of store.
func storeField[Row any](name string, kind answer.Type, meaning string, of func(*Row) any) answer.Field[Row] {
	return answer.Field[Row]{Column: answer.Column{Name: name, Type: kind}, Meaning: meaning, Of: of}
}

// counted is a column with a number.
func counted[Row any](name, meaning string, of func(*Row) int) answer.Field[Row] {
	return storeField(name, answer.TypeInteger, meaning, func(r *Row) any { return int64(of(r)) })
}

// broughtIn is a store or folder whose runs were merged.
type broughtIn struct {
	from string
	done ingest.Merged
}

// mergeFields are the columns of store merge and of store unquarantine; the first has the name of its own.
func mergeFields(first string) []answer.Field[broughtIn] {
	return []answer.Field[broughtIn]{
		storeField(first, answer.TypeText, "folder that the runs come from", func(b *broughtIn) any { return b.from }),
		counted("added", "runs that were added", func(b *broughtIn) int { return b.done.Added }),
		counted("skipped", "runs that are here already", func(b *broughtIn) int { return b.done.Skipped }),
		counted("refused", "damaged files, and runs that are here with other values under the same id; standard error names each", func(b *broughtIn) int { return b.done.Refused }),
		counted("events", "events that were added, such as tags and removals", func(b *broughtIn) int { return b.done.Events }),
		counted("artifacts", "stored files of runs that were added", func(b *broughtIn) int { return b.done.Artifacts }),
		counted("healed", "runs here that got back samples or operators which they had lost to damage", func(b *broughtIn) int { return b.done.Healed }),
	}
}

// compacted is a new store that store compact made.
type compacted struct {
	into string
	done ingest.Compacted
}

// compactFields are the columns of store compact.
func compactFields() []answer.Field[compacted] {
	return append([]answer.Field[compacted]{
		storeField("store", answer.TypeText, "folder of the new store", func(c *compacted) any { return c.into }),
		counted("runs", "runs in the new store", func(c *compacted) int { return c.done.Runs }),
		counted("removed", "removed runs, which are not in the new store", func(c *compacted) int { return c.done.Removed }),
		counted("files", "sealed files of the new store, one per month", func(c *compacted) int { return c.done.Files }),
		counted("events", "events in the new store", func(c *compacted) int { return c.done.Events }),
	}, damage.Fields(func(c *compacted) check.Loss { return c.done.Loss })...)
}

// pruned is a store from which stored files of old runs were removed.
type pruned struct {
	store  string
	dryRun bool
	done   ingest.Pruned
}

// pruneFields are the columns of store prune-artifacts.
func pruneFields() []answer.Field[pruned] {
	bytes := func(name, meaning string, of func(*pruned) any) answer.Field[pruned] {
		f := storeField(name, answer.TypeInteger, meaning, of)
		f.Unit = "B"
		return f
	}
	return []answer.Field[pruned]{
		storeField("store", answer.TypeText, "folder of the store", func(p *pruned) any { return p.store }),
		storeField("dry_run", answer.TypeBoolean, "true if nothing was removed (--dry-run): the numbers are those that a removal would have", func(p *pruned) any { return p.dryRun }),
		counted("removed", "files that were removed", func(p *pruned) int { return p.done.Files }),
		bytes("removed_bytes", "size of the removed files, as stored", func(p *pruned) any { return p.done.Bytes }),
		counted("left", "files that remain", func(p *pruned) int { return p.done.Left }),
		bytes("left_bytes", "size of the files that remain, as stored", func(p *pruned) any { return p.done.LeftBytes }),
		counted("left_too_new", "remaining files that no younger run has, but that were stored within the last day", func(p *pruned) int { return p.done.Young }),
	}
}

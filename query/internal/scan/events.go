package scan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// applyOverlay does in Go what the SQL of overlay does: it drops the rows of removed runs, and applies events to tags and env_missing.
func applyOverlay(t *answer.Table, events *EventIndex) error {
	byID := make(map[schema.ULID][][]any, len(t.Rows))
	for _, row := range t.Rows {
		id, err := idOf(t, row)
		if err != nil {
			return err
		}
		byID[id] = append(byID[id], row)
	}
	ids := slices.SortedFunc(maps.Keys(byID), schema.ULID.Compare)
	removed, err := events.Removed.Among(ids)
	if err != nil {
		return err
	}
	t.Rows = slices.DeleteFunc(t.Rows, func(row []any) bool {
		id, _ := idOf(t, row)
		return removed[id]
	})
	if at := t.Index("env_missing"); at >= 0 {
		for id, rows := range byID {
			changeEntries(rows, at, nil, events.Lost[id.String()])
		}
	}
	at := t.Index("tags")
	if at < 0 || len(ids) == 0 {
		return nil
	}
	groups, err := events.TagsIn(IDRange{First: ids[0], Last: ids[len(ids)-1]})
	for i := range groups {
		for _, id := range groups[i].Runs {
			changeEntries(byID[id], at, groups[i].Untagged(), groups[i].Tags())
		}
	}
	return err
}

// idOf is the id of the run of a row.
func idOf(t *answer.Table, row []any) (schema.ULID, error) {
	text, _ := row[t.Index("run_id")].(string)
	id, err := schema.ParseULID(text)
	if err != nil {
		return schema.ULID{}, fmt.Errorf("run %q: %w", text, err)
	}
	return id, nil
}

// changeEntries takes entries of a map away and sets others, in a column of rows.
func changeEntries(rows [][]any, column int, gone []string, set map[string]string) {
	for _, row := range rows {
		old, _ := row[column].(map[string]any)
		if old == nil && len(set) == 0 {
			continue
		}
		entries := make(map[string]any, len(old)+len(set))
		maps.Copy(entries, old)
		for _, key := range gone {
			delete(entries, key)
		}
		for key, value := range set {
			entries[key] = value
		}
		row[column] = entries
	}
}

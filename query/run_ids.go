package query

import (
	"context"
	"slices"

	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// RunIDs returns the ids of the runs that match a filter, oldest first.
func (db *DB) RunIDs(ctx context.Context, filter string) ([]string, error) {
	var ids []string
	err := db.Pages(ctx, ListRequest{Filter: filter}, []string{"run_id"}, func(page Page) error {
		for _, row := range page.Rows {
			id, _ := row[0].(string)
			ids = append(ids, id)
		}
		return nil
	})
	slices.Sort(ids)
	return ids, err
}

// TaggedIDs is RunIDs for the runs that have a tag with this key.
func (db *DB) TaggedIDs(ctx context.Context, filter, key string) ([]string, error) {
	var ids []string
	err := db.Pages(ctx, ListRequest{Filter: filter}, []string{"run_id", "tags"}, func(page Page) error {
		for _, row := range page.Rows {
			id, _ := row[0].(string)
			tags, _ := row[1].(map[string]any)
			if _, tagged := tags[key]; tagged {
				ids = append(ids, id)
			}
		}
		return nil
	})
	slices.Sort(ids)
	return ids, err
}

// RemovedIDs is RunIDs for removed runs, which other questions do not find.
func (db *DB) RemovedIDs(ctx context.Context, filter string) ([]string, error) {
	removed, err := db.stores.Removed()
	if err != nil {
		return nil, err
	}
	ids, err := (&DB{db.stores.WithRemoved()}).RunIDs(ctx, filter)
	if err != nil {
		return nil, err
	}
	parsed := make([]schema.ULID, len(ids))
	for i, id := range ids {
		if parsed[i], err = schema.ParseULID(id); err != nil {
			return nil, err
		}
	}
	gone, err := removed.Among(parsed)
	return scan.IDTexts(slices.DeleteFunc(parsed, func(id schema.ULID) bool { return !gone[id] })), err
}

package query

import (
	"context"
	"slices"

	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// RunIDs returns the ids of the runs that match a filter, oldest first.
func (db *DB) RunIDs(ctx context.Context, filter string) ([]string, error) {
	return db.idsWhere(ctx, filter, "run_id", func(any) bool { return true })
}

// TaggedIDs is RunIDs for the runs that have a tag with this key.
func (db *DB) TaggedIDs(ctx context.Context, filter, key string) ([]string, error) {
	return db.idsWhere(ctx, filter, "tags", func(value any) bool {
		tags, _ := value.(map[string]any)
		_, tagged := tags[key]
		return tagged
	})
}

// idsWhere returns the ids of the runs that match a filter and have an accepted value in a column, oldest first.
func (db *DB) idsWhere(ctx context.Context, filter, column string, accepts func(value any) bool) ([]string, error) {
	var ids []string
	err := db.Pages(ctx, ListRequest{Filter: filter}, slices.Compact([]string{"run_id", column}), func(page Page) error {
		for _, row := range page.Rows {
			if id, _ := row[0].(string); accepts(row[len(row)-1]) {
				ids = append(ids, id)
			}
		}
		return nil
	})
	slices.Sort(ids)
	return ids, err
}

// RemovedIDs returns the ids of matching removed runs, which other questions do not find.
func (db *DB) RemovedIDs(ctx context.Context, filter string) ([]string, error) {
	removed, err := db.stores.Removed()
	if err != nil {
		return nil, err
	}
	ids, err := (&DB{db.stores.WithRemoved()}).RunIDs(ctx, filter)
	if err != nil {
		return nil, err
	}
	parsed, err := schema.ParseULIDs(ids)
	if err != nil {
		return nil, err
	}
	gone, err := removed.Among(parsed)
	return scan.IDTexts(slices.DeleteFunc(parsed, func(id schema.ULID) bool { return !gone[id] })), err
}

package query

import (
	"context"
	"fmt"
	"slices"

	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// Facts reads the facts of runs as texts, by run id: the columns of Columns and of more, env.NAME and applied.NAME. The ids must be
// ascending.
func Facts(ctx context.Context, r *scan.Reader, ids []schema.ULID, more ...string) (map[schema.ULID]map[string]string, error) {
	columns, err := scan.RunColumns(slices.Concat([]string{"env", "applied"}, more, FactColumns()))
	if err != nil {
		return nil, err
	}
	t, err := r.Rows(ctx, ids, columns)
	if err != nil {
		return nil, err
	}
	all := make(map[schema.ULID]map[string]string, len(ids))
	for i, row := range t.Rows {
		all[ids[i]] = map[string]string{}
		for k, column := range t.Columns {
			AddFact(all[ids[i]], column.Name, row[k])
		}
	}
	return all, nil
}

// AddFact adds the value of a column, or the entries of a map column, as texts.
func AddFact(all map[string]string, name string, value any) {
	switch value := value.(type) {
	case nil:
	case map[string]any:
		for key, entry := range value {
			AddFact(all, name+"."+key, entry)
		}
	default:
		all[name] = fmt.Sprint(value)
	}
}

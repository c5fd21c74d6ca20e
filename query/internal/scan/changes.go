package scan

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
)

// EnvMissingSQL is the SQL of env_missing plus the samples or ops that the run has lost, from the table lost_rows.
const EnvMissingSQL = `CASE WHEN lost IS NULL THEN env_missing ELSE map_concat(coalesce(env_missing, MAP {}), lost) END`

// TagsSQL is the SQL of tags as changed by events, from the table tag_changes.
const TagsSQL = `CASE WHEN tags_set IS NULL OR tags IS NULL AND cardinality(tags_set) = 0 THEN tags ELSE map_concat(map_from_entries(
	list_filter(map_entries(coalesce(tags, MAP {})), lambda e: NOT list_contains(tags_gone, e.key))), tags_set) END`

// EventTables makes the tables of a question. Their names begin with a prefix: a schema with its dot, or a text. Those of a text are temporary,
// and belong to the connection.
type EventTables struct {
	Conn   *duck.Conn
	Prefix string
}

// Table makes a table, in place of one of that name. rest is the SQL after the name.
func (m EventTables) Table(ctx context.Context, name, rest string, args ...any) error {
	create := "CREATE OR REPLACE TEMP TABLE "
	if strings.HasSuffix(m.Prefix, ".") {
		create = "CREATE OR REPLACE TABLE "
	}
	_, err := m.Conn.Exec(ctx, create+m.Prefix+name+" "+rest, args...)
	return err
}

// IDs makes a table of the runs of groups: run_id and place, that of the group in groups.
func (m EventTables) IDs(ctx context.Context, name string, groups []ChangedRuns) error {
	if err := m.Table(ctx, name, "(run_id VARCHAR, place BIGINT)"); err != nil {
		return err
	}
	const some = 1 << 16 // at a time: a parameter is copied several times
	var ids, places []string
	insert := func() error {
		_, err := m.Conn.Exec(ctx, "INSERT INTO "+m.Prefix+name+" SELECT unnest(string_split($1::VARCHAR, ',')), unnest(string_split($2::VARCHAR, ','))::BIGINT",
			strings.Join(ids, ","), strings.Join(places, ","))
		ids, places = ids[:0], places[:0]
		return err
	}
	for i := range groups {
		place := strconv.Itoa(i)
		for _, id := range groups[i].Runs {
			if ids, places = append(ids, id.String()), append(places, place); len(ids) == some {
				if err := insert(); err != nil {
					return err
				}
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return insert()
}

// Lost makes the table lost_rows of the runs that have lost samples or ops: by run id and table, why.
func (m EventTables) Lost(ctx context.Context, lost map[string]map[string]string) error {
	type lostRow struct {
		RunID string            `json:"run_id"`
		Lost  map[string]string `json:"lost"`
	}
	var all []lostRow
	for id, why := range lost {
		all = append(all, lostRow{id, why})
	}
	rows, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("listing lost samples: %w", err)
	}
	return m.Table(ctx, "lost_rows", `AS SELECT unnest(from_json($1::JSON, '[{"run_id": "VARCHAR", "lost": "MAP(VARCHAR, VARCHAR)"}]'), max_depth := 2)`, string(rows))
}

// fewTagged is the number of runs up to which the tags that events changed are kept with each run.
const fewTagged = 4096

// tagChange is a row of the table tag_changes or, if the runs are many, of tag_groups.
type tagChange struct {
	RunID string            `json:"run_id"`
	Place int               `json:"place"` // of the group
	Set   map[string]string `json:"tags_set"`
	Gone  []string          `json:"tags_gone"`
}

// Tags makes the table tag_changes of the runs of groups, and returns the SQL that joins it to rows of runs.
func (m EventTables) Tags(ctx context.Context, groups []ChangedRuns) (joined string, err error) {
	joined, name := " LEFT JOIN "+m.Prefix+"tag_changes USING (run_id)", "tag_changes"
	changed := 0
	for i := range groups {
		changed += len(groups[i].Runs)
	}
	shared := changed > fewTagged
	if shared {
		if err := m.IDs(ctx, name, groups); err != nil {
			return "", err
		}
		joined += " LEFT JOIN (SELECT place, tags_set, tags_gone FROM " + m.Prefix + "tag_groups) USING (place)"
		name = "tag_groups"
	}
	var rows []tagChange
	for place, g := range groups {
		c := tagChange{Place: place, Set: g.Tags(), Gone: g.Untagged()}
		if shared {
			rows = append(rows, c)
			continue
		}
		for _, id := range g.Runs {
			c.RunID = id.String()
			rows = append(rows, c)
		}
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return "", fmt.Errorf("changing tags: %w", err)
	}
	return joined, m.Table(ctx, name, `AS SELECT unnest(from_json($1::JSON,
	'[{"run_id": "VARCHAR", "place": "BIGINT", "tags_set": "MAP(VARCHAR, VARCHAR)", "tags_gone": ["VARCHAR"]}]'), max_depth := 2)`, string(text))
}

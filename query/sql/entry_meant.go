package sql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// noColumn matches DuckDB's message about a column that no table of the text has.
var noColumn = regexp.MustCompile(`^referenced column "([^"]+)" not found in FROM clause`)

// entryMeant adds, to the error about an unknown column, the parameter or tag of that name. Other errors are returned unchanged.
func entryMeant(ctx context.Context, c *duck.Conn, err error) error {
	engine, is := errors.AsType[*duck.Error](err)
	if !is {
		return err
	}
	match := noColumn.FindStringSubmatch(engine.Message)
	if match == nil {
		return err
	}
	name := match[1]
	for _, m := range []struct{ column, noun string }{{"params", "parameter"}, {"tags", "tag"}} {
		keys, failed := keysOf(ctx, c, m.column)
		if failed != nil {
			return err // the error about the user's text matters more
		}
		if slices.Contains(keys, name) {
			return answer.InputError("query: no column is called %q; %[1]s is a %[2]s: %[3]s[%[4]s]", answer.Brief(name), m.noun, m.column, answer.Brief(duck.Literal(name)))
		}
	}
	return err
}

// keysOf returns the keys of a map column of runs.
func keysOf(ctx context.Context, c *duck.Conn, column string) (keys []string, err error) {
	text := fmt.Sprintf("SELECT DISTINCT unnest(map_keys(%s)) FROM runs", column)
	err = c.Query(ctx, duck.Statement{SQL: text}, func(row []driver.Value) error {
		if key, is := row[0].(string); is {
			keys = append(keys, key)
		}
		return nil
	})
	return keys, err
}

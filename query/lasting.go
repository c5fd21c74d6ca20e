package query

import (
	"context"
	"strings"

	"github.com/neurolens/neurolens/query/filter"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// fromLast matches session=last and session=last~N in a filter.
var fromLast = regexp.MustCompile(`(^|[\s(])` + filter.KeySession + `=(last(?:~[0-9]+)?)`)

// Lasting replaces session=last and session=last~N in a filter by session ids, so that it selects the same runs after newer sessions
// are added. A filter with quotes, and session= with several values, are left unchanged.
func (db *DB) Lasting(ctx context.Context, text string) (string, error) {
	return lasting(text, func(session string) (string, error) {
		run, err := db.WithoutWarnings().newest(ctx, ListRequest{Filter: filter.KeySession + "=" + session}, "session_id")
		if err != nil || run == nil {
			return "", err
		}
		return run.SessionID, nil
	})
}

func lasting(text string, id func(session string) (string, error)) (string, error) {
	if strings.ContainsAny(text, `"'`) {
		return text, nil
	}
	var b strings.Builder
	end := 0
	for _, at := range fromLast.FindAllStringSubmatchIndex(text, -1) {
		if rest := text[at[1]:]; rest != "" && !strings.ContainsAny(rest[:1], " \t\n)") {
			continue
		}
		found, err := id(text[at[4]:at[5]])
		if err != nil {
			return text, err
		}
		if found != "" {
			b.WriteString(text[end:at[4]] + found)
			end = at[5]
		}
	}
	return b.String() + text[end:], nil
}

package query

import (
	"context"
	"regexp"
	"strings"

	"github.com/neurolens/neurolens/query/filter"
)

// fromLast finds sessions of a filter that are counted from the last one.
var fromLast = regexp.MustCompile(`(^|[\s(])` + filter.KeySession + `=(last(?:~[0-9]+)?)`)

// Lasting is a filter in which sessions that are counted from the last one are named by their ids, so that it selects the same runs when
// there are newer sessions. A filter with quotes, or with several such values of a key, stays as it is.
func (db *DB) Lasting(ctx context.Context, text string) (string, error) {
	return lasting(text, func(session string) (string, error) {
		run, err := db.Quiet().newest(ctx, ListRequest{Filter: filter.KeySession + "=" + session}, "session_id")
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

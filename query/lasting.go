package query

import (
	"context"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema"
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

// NewestSession returns the filter of the newest session, unless bisect measured it, whose commits may be old: then that of the newest run
// that bisect did not measure, if there is one.
func (db *DB) NewestSession(ctx context.Context) (string, error) {
	const last = filter.KeySession + "=last"
	quiet := db.WithoutWarnings()
	run, err := quiet.newest(ctx, ListRequest{Filter: last}, "session_id", "warnings")
	if err == nil && run != nil && slices.Contains(run.Warnings, schema.WarnBisect) {
		other, err := quiet.newest(ctx, ListRequest{Filter: filter.KeySession + "!=null warnings!=" + schema.WarnBisect}, "session_id")
		if err != nil {
			return "", err
		}
		if other != nil {
			run = other
		}
	}
	if err != nil || run == nil {
		return last, err
	}
	return filter.KeySession + "=" + run.SessionID, nil
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

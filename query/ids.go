package query

import (
	"context"
	"strconv"
	"strings"
)

// ids finds what the value of run= or session= stands for: the whole id, or a prefix or suffix that no other id has.
// A value that fits none gives none.
func (ch *chooser) ids(ctx context.Context, key, value string) ([]string, error) {
	if key == keyRun {
		files, err := runsLike(ch.all, value)
		if err != nil || len(files) == 0 {
			return nil, err
		}
		return []string{files[0].run.String()}, nil
	}
	sessions, err := ch.texts(ctx, "session_id", "session_id")
	if err != nil {
		return nil, err
	}
	like := alike(sessions, value, func(s string) string { return s })
	if len(like) > 1 {
		return nil, ambiguous("sessions", value, like)
	}
	return like, nil
}

// lastButN reads last (0) and last~N.
func lastButN(value string) (int, bool) {
	if value == "last" {
		return 0, true
	}
	digits, ok := strings.CutPrefix(value, "last~")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 0
}

// runsLike are the files of the runs with an id, or with a prefix or suffix of one: at most one, or an error.
func runsLike(files []file, id string) ([]file, error) {
	like := alike(files, id, func(f file) string { return f.run.String() })
	if len(like) <= 1 {
		return like, nil
	}
	names := make([]string, len(like))
	for i, f := range like {
		names[i] = f.run.String()
	}
	return nil, ambiguous("runs", id, names)
}

// alike are the items whose id is, begins with or ends with a text, in any case of letters.
func alike[T any](items []T, text string, id func(T) string) []T {
	text = strings.ToUpper(text)
	var like []T
	for _, item := range items {
		switch s := id(item); {
		case s == text:
			return []T{item}
		case text != "" && (strings.HasPrefix(s, text) || strings.HasSuffix(s, text)):
			like = append(like, item)
		}
	}
	return like
}

func ambiguous(what, text string, ids []string) error {
	const shown = 3
	more := ""
	if len(ids) > shown {
		more = " ..."
	}
	return input("%s begins or ends the ids of %d %s: %s%s", brief(text), len(ids), what, strings.Join(ids[:min(shown, len(ids))], " "), more)
}

package filter

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// TwoSides splits the arguments of a command line into the filters of the base and of the head. The base is against, or the first of
// two arguments that exclude each other; otherwise it is empty. It is an ErrInput if the first two of more than two arguments exclude
// each other.
func TwoSides(against string, args []string) (base, head string, err error) {
	if strings.TrimSpace(against) != "" || len(args) < 2 {
		return JoinArguments(against), JoinArguments(args...), nil
	}
	base, head = JoinArguments(args[0]), JoinArguments(args[1])
	switch apart := exclusive(base, head); {
	case apart && len(args) > 2:
		return "", "", answer.InputError("no run matches both %s and %s: quote each of the two selections as one argument, or name the base with --against", answer.Brief(args[0]), answer.Brief(args[1]))
	case apart:
		return base, head, nil
	}
	return "", JoinArguments(args...), nil
}

// exclusive reports whether no run can match both filters, because they require different values of the same key. It is false if
// that is unclear, and for filters with errors.
func exclusive(a, b string) bool {
	first, second := wanted(a), wanted(b)
	for key, value := range first {
		if other, both := second[key]; both && differ(key, value, other) {
			return true
		}
	}
	return false
}

// wanted returns the values that every matching run has, by key. Only keys with a single value per run are included.
func wanted(text string) map[string]string {
	n, err := parseFilter(text)
	if err != nil || n == nil {
		return nil
	}
	values := map[string]string{}
	var add func(n *node)
	add = func(n *node) {
		switch n.kind {
		case tokenAnd:
			for _, part := range n.parts {
				add(part)
			}
		case tokenWord:
			w := n.word
			if w.Op == "=" && len(w.Values) == 1 && !w.Values[0].Null() && isName(FieldOf(w.Key)) {
				values[schema.CanonicalAlias(w.Key)] = w.Values[0].Text
			}
		}
	}
	add(n)
	return values
}

// Mentions reports whether a filter has a condition on the field of one of the keys. It is false for filters with errors.
func Mentions(text string, keys ...string) bool {
	n, err := parseFilter(text)
	if err != nil || n == nil {
		return false
	}
	var has func(n *node) bool
	has = func(n *node) bool {
		if n.kind == tokenWord {
			f := FieldOf(n.word.Key)
			return slices.ContainsFunc(keys, func(key string) bool {
				of := FieldOf(key)
				return of.Column.Name == f.Column.Name && of.Entry == f.Entry
			})
		}
		return slices.ContainsFunc(n.parts, has)
	}
	return has(n)
}

// isName reports whether a field is a text or an integer. A run has exactly one value of such a field.
func isName(f Field) bool { return f.Kind() == schema.KindString || f.Kind() == schema.KindInt }

// differ reports whether two values of a key are certainly different. Parts of ids with different lengths may belong to the same id.
func differ(key, a, b string) bool {
	switch {
	case key == KeyBaseline: // a run may be of several
		return false
	case !StandsForIDs(key):
		return canonical(key, a) != canonical(key, b) && !strings.Contains(a+b, "..") // a..b is a range
	}
	_, lastA := LastButN(a)
	_, lastB := LastButN(b)
	if lastA || lastB {
		return a != b && lastA && lastB
	}
	return len(a) == len(b) && !strings.EqualFold(a, b)
}

// canonical returns the canonical form of a value: 1 for 1.0, fp32 for float32.
func canonical(key, value string) string {
	if key == "precision" {
		if text, err := schema.CanonicalPrecision(value); err == nil {
			return text
		}
	}
	return schema.CanonicalText(value)
}

package filter

import (
	"strings"

	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/schema"
)

// TwoSides are the filters of the base, empty where there is none, and of the head that a command line asks for: against names the base, and
// so do two arguments that exclude one another. Where more arguments do, it is an ErrInput: no run matches all of them.
func TwoSides(against string, args []string) (base, head string, err error) {
	if strings.TrimSpace(against) != "" || len(args) < 2 {
		return Arguments(against), Arguments(args...), nil
	}
	base, head = Arguments(args[0]), Arguments(args[1])
	switch apart := exclusive(base, head); {
	case apart && len(args) > 2:
		return "", "", fault.Input("no run matches both %s and %s: quote each of the two selections as one argument, or name the base with --against", fault.Brief(args[0]), fault.Brief(args[1]))
	case apart:
		return base, head, nil
	}
	return "", Arguments(args...), nil
}

// exclusive tells whether two filters cannot match the same run, as both want a value of the same key, and not the same one: they are
// two selections, not one. Filters that leave it open are not, and neither are those that cannot be read.
func exclusive(a, b string) bool {
	first, second := wanted(a), wanted(b)
	for key, value := range first {
		if other, both := second[key]; both && differ(key, value, other) {
			return true
		}
	}
	return false
}

// wanted are the values that every run has which matches a filter, by key. A run has one value of each of these keys.
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

// isName tells whether values of a field are names or counts, of which a run has one, and not measured or of several.
func isName(f Field) bool { return f.Kind() == schema.KindString || f.Kind() == schema.KindInt }

// differ tells whether two values of a key are certainly not the same. Parts of ids may be of the same one, where they are not equally long.
func differ(key, a, b string) bool {
	switch {
	case key == KeyBaseline: // a run may be of several
		return false
	case !StandsForIDs(key):
		return canonical(key, a) != canonical(key, b) && !strings.Contains(a+b, "..") // a..b is a span
	}
	_, lastA := LastButN(a)
	_, lastB := LastButN(b)
	if lastA || lastB {
		return a != b && lastA && lastB
	}
	return len(a) == len(b) && !strings.EqualFold(a, b)
}

// canonical is a value as it is compared: 1.0 as 1, float32 as fp32.
func canonical(key, value string) string {
	if key == "precision" {
		if text, err := schema.CanonicalPrecision(value); err == nil {
			return text
		}
	}
	return schema.CanonicalText(value)
}

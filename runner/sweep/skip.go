package sweep

import (
	"slices"

	"github.com/neurolens/neurolens/runner/expression"
)

// Skip is the reason why a point is planned but not run.
type Skip struct {
	When   string // the expression of skip_if that holds at the point
	Reason string
	Line   int // of the expression, or of the axis
	// Unsupported: the function of the point does not take an axis, and a point without it is measured. When is empty.
	Unsupported bool
}

// skipRule is an entry of skip_if.
type skipRule struct {
	when    *formula
	reason  string
	unclear string // why it is not known whether a point is skipped where when is true; empty: it is
}

// keysOfSkip are the keys of an entry of skip_if.
var keysOfSkip = []Key{
	{Name: "when", Value: expressionValue, Doc: "An expression. Points where it is true are skipped."},
	{Name: "reason", Value: textValue, Doc: "The reason that is stored. Default: the expression."},
}

// readSkips reads skip_if: an entry, or a list of them.
func (d *document) readSkips(g *grid, seed *int64) ([]skipRule, error) {
	f := d.keys["skip_if"]
	if !f.given() {
		return nil, nil
	}
	l := d.speak(g, seed)
	if len(f.Content) > maxEntries {
		return nil, f.errorf("more than %d entries", maxEntries)
	}
	var rules []skipRule
	for _, item := range f.items() {
		keys, err := item.knownOfExpressions(keyNames(keysOfSkip))
		if err != nil {
			return nil, err
		}
		if !keys["when"].given() {
			return nil, item.errorf("want {when: EXPRESSION, reason: TEXT}: when is missing")
		}
		rule := skipRule{unclear: d.unclear[item.Node]}
		if rule.when, err = l.compile(keys["when"], expression.Boolean); err != nil {
			return nil, err
		}
		rule.reason = rule.when.text
		if reason := keys["reason"]; reason.given() {
			if rule.reason, err = reason.text(); err != nil {
				return nil, err
			}
			if err := reason.checkUnfilled(rule.reason); err != nil {
				return nil, err
			}
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// knownOfExpressions are the values of a map with expressions in it. YAML takes `{when: max(a, b) > 1}` for two keys, the
// second of which is `b) > 1`.
func (f field) knownOfExpressions(keys []string) (map[string]field, error) {
	members, err := f.members(f.what + ".")
	if err != nil {
		return nil, err
	}
	for i, m := range members {
		if !slices.Contains(keys, m.key) && !axisName.MatchString(m.key) {
			return nil, f.with(f.Content[2*i], f.what).errorf("unknown key %s: quote the expression, because YAML ends it at the comma", shorten(m.key))
		}
	}
	return f.known(f.what+".", keys)
}

// skip reports why a point is not to be run; nil: it is. fault is why that is not known; empty: it is.
func (of *section) skip(p *Point) (skip *Skip, fault string, err error) {
	for _, rule := range of.skips {
		holds, err := rule.when.eval(p)
		if err != nil {
			return nil, "", err
		}
		switch {
		case holds != true:
		case rule.unclear == "":
			return &Skip{When: rule.when.text, Reason: rule.reason, Line: rule.when.at.fileLine()}, "", nil
		case fault == "":
			fault = rule.unclear
		}
	}
	return nil, fault, nil
}

// Planned lists the points that run, then the skipped ones.
func (s *Sweep) Planned() []*Point {
	all := make([]*Point, 0, len(s.Points)+len(s.Skipped))
	for i := range s.Points {
		all = append(all, &s.Points[i])
	}
	for i := range s.Skipped {
		all = append(all, &s.Skipped[i])
	}
	return all
}

package report

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/summary"
)

// docsPath is the page about reports.
var docsPath = filepath.Join("..", "..", "..", "..", "docs", "reports.md")

// membersHead begins the part of the page that is made of the types.
const membersHead = "## Members of the JSON form\n\n"

// TestDocs: the page has a table of the members of each object, made of what the types say, and explains every rule.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile(docsPath)
	ok(t, err)
	own, _, found := strings.Cut(string(text), membersHead)
	if !found {
		t.Fatalf("%s has no part %q", docsPath, membersHead)
	}
	golden(t, docsPath, own+membersHead+membersText())
	rules := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ").FindAllStringSubmatch(own, -1) {
		rules[row[1]] = true
	}
	for rule := range sentences {
		if !rules[rule] {
			t.Errorf("%s does not explain the rule %s", docsPath, rule)
		}
	}
}

// TestHowChangesAreEstimated: the glossary, which neurolens help change prints, and the forms of a report say in the same words how changes
// and their intervals are estimated: each form once, over runs and over sessions.
func TestHowChangesAreEstimated(t *testing.T) {
	glossary, err := os.ReadFile(filepath.Join(filepath.Dir(docsPath), "glossary.md"))
	ok(t, err)
	d := maker().Document(sample())
	var md, page bytes.Buffer
	ok(t, d.markdown(&md))
	ok(t, maker().HTML(d, Pictures{})(&page))
	for _, how := range []string{views.ChangeOfRuns, views.ChangeOfSessions} {
		for form, text := range map[string]string{"the glossary": string(glossary), "Markdown": md.String(), "HTML": html.UnescapeString(page.String())} {
			if n := strings.Count(text, how); n != 1 {
				t.Errorf("%s says %d times %q", form, n, how)
			}
		}
	}
}

// membersText returns the tables of the members of all objects.
func membersText() string {
	var b strings.Builder
	b.WriteString("Made of the types in the code: `go test ./cmd/neurolens/internal/report -update` writes this part.\n" +
		"`neurolens report --schema` prints the same as a JSON Schema.\n")
	types := []reflect.Type{reflect.TypeFor[Document]()}
	for i := 0; i < len(types); i++ {
		name := strings.ToLower(types[i].Name())
		fmt.Fprintf(&b, "\n### %s\n\n| member | type | meaning |\n|---|---|---|\n", name)
		for _, m := range membersOf(types[i]) {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", m.name, typeText(m.of, &types), m.doc)
		}
	}
	return b.String()
}

// typeText names a type, and notes objects that are not there yet.
func typeText(t reflect.Type, types *[]reflect.Type) string {
	switch {
	case t == reflect.TypeFor[summary.Text]():
		return "text or null"
	case t == reflect.TypeFor[*summary.Time]():
		return "time or null"
	case t == reflect.TypeFor[time.Time]():
		return "time"
	case t.Kind() == reflect.Pointer:
		return "number or null"
	case t.Kind() == reflect.Slice:
		return "list of " + typeText(t.Elem(), types)
	case t.Kind() == reflect.Map:
		return "map to " + typeText(t.Elem(), types)
	case t.Kind() == reflect.Struct:
		if !slices.Contains(*types, t) {
			*types = append(*types, t)
		}
		return "[" + strings.ToLower(t.Name()) + "](#" + strings.ToLower(t.Name()) + ")"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Int:
		return "integer"
	case t.Kind() == reflect.Float64:
		return "number"
	}
	return "text"
}

// TestEveryMemberIsDescribed: the schema and the page say of each member what it means.
func TestEveryMemberIsDescribed(t *testing.T) {
	types := []reflect.Type{reflect.TypeFor[Document]()}
	for i := 0; i < len(types); i++ {
		seen := map[string]bool{}
		for _, m := range membersOf(types[i]) {
			typeText(m.of, &types)
			if m.name == "" || m.doc == "" || seen[m.name] {
				t.Errorf("%s: member %q is described by %q, or stands there twice", types[i], m.name, m.doc)
			}
			seen[m.name] = true
		}
	}
	if len(types) < 15 {
		t.Errorf("%d objects, want at least 15", len(types))
	}
}

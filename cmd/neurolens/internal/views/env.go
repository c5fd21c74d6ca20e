package views

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/runner/expression"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/tune"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// TextColumns returns columns of texts with the given names.
func TextColumns(names ...string) []answer.Column {
	columns := make([]answer.Column, len(names))
	for i, name := range names {
		columns[i] = answer.Column{Name: name, Type: answer.TypeText}
	}
	return columns
}

// Env lists the facts of a machine; for each unknown fact it gives the reason.
func Env(env schema.Env) answer.Table {
	t := answer.Table{Columns: TextColumns("fact", "value", "missing")}
	all := map[string][]any{}
	for name, value := range env.Facts {
		all[name] = []any{name, value, nil}
	}
	for name, reason := range env.Missing {
		all[name] = []any{name, nil, reason}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Rows = append(t.Rows, all[name])
	}
	return t
}

// Facts shows known facts with their values, and the unknown ones in one line per reason.
func Facts(t answer.Table) term.View {
	v := term.View{Columns: []term.Column{{Header: "FACT"}, {Header: "VALUE"}}}
	unknown := map[string][]string{}
	for _, row := range t.Rows {
		if reason, ok := row[2].(string); ok {
			unknown[reason] = append(unknown[reason], term.ValueString(row[0]))
			continue
		}
		v.Rows = append(v.Rows, term.Cells(term.ValueString(row[0]), term.ValueString(row[1])))
	}
	for _, reason := range slices.Sorted(maps.Keys(unknown)) {
		v.Below = append(v.Below, reason+term.Gap+strings.Join(unknown[reason], " "))
	}
	v.Below = append(v.Below, term.Count(len(v.Rows), "fact")+" known, "+term.Thousands(len(t.Rows)-len(v.Rows))+" not")
	return v
}

// Nameable returns the facts that expressions may name, each with its value on a machine or the reason why there is none: as a
// table for programs, and for people.
func Nameable(m *expression.Machine) (answer.Table, term.View) {
	t := answer.Table{Columns: TextColumns("fact", "value", "unit", "meaning", "missing")}
	v := term.View{Columns: []term.Column{{Header: "FACT"}, {Header: "VALUE"}, {Header: "MEANING"}}}
	for _, f := range expression.Facts() {
		row := []any{f.Name, nil, nil, f.Meaning, nil}
		if f.Unit != "" {
			row[2] = f.Unit
		}
		shown := ""
		switch value, why := m.Value(f.Name); value := value.(type) {
		case nil:
			row[4], shown = why, "NULL ("+why+")"
		case float64:
			row[1], shown = schema.CanonicalFloat(value), schema.CanonicalFloat(value)
			if f.Unit != "" {
				shown = schema.ForPeople(value, f.Unit)
			}
		case string:
			row[1], shown = value, value
		}
		t.Rows = append(t.Rows, row)
		v.Rows = append(v.Rows, []term.Cell{{Text: f.Name}, {Text: term.ValueString(shown)}, {Text: f.Meaning}})
	}
	var functions []string
	for _, f := range slices.Concat(expression.Functions(), m.Functions(nil)) {
		functions = append(functions, f.Name)
	}
	slices.Sort(functions)
	v.Below = []string{"functions: " + strings.Join(functions, " ")}
	return t, v
}

// Advice shows what is to be done, what is not known, and how many checks there were. Each command stands on a line of its
// own, which is never broken, so that it can be pasted.
func Advice(env schema.Env, advice []probe.Advice, width int) term.View {
	var lines []string
	unknowns := map[string][]string{}
	states := map[string]int{}
	for _, d := range advice {
		states[d.State]++
		switch {
		case d.Command+d.Remedy != "":
			lines = append(lines, term.Wrapped(d.Check+term.Gap+cmp.Or(d.Value, term.Unknown), width)...)
			lines = append(lines, term.Wrapped(adviceIndent+d.Why, width)...)
			if d.Command != "" {
				lines = append(lines, adviceIndent+d.Command)
				if d.Tune != "" {
					lines = append(lines, term.Wrapped(adviceIndent+"or only while measuring: neurolens bench --tune="+d.Tune, width)...)
				}
			} else {
				lines = append(lines, term.Wrapped(adviceIndent+d.Remedy, width)...)
			}
			lines = append(lines, "")
		case d.State == probe.StateUnknown:
			unknowns[d.Missing] = append(unknowns[d.Missing], d.Check)
		}
	}
	if len(lines) > 0 {
		lines = append(append(term.Heading(machineWords(env)), ""), lines...)
	}
	for _, reason := range slices.Sorted(maps.Keys(unknowns)) {
		lines = append(lines, term.Wrapped("unknown, "+reason+term.Gap+strings.Join(unknowns[reason], " "), width)...)
	}
	return term.View{Commands: append(lines, term.Wrapped(adviceCount(states, len(advice)), width)...)}
}

// adviceIndent begins the lines of a block below its first.
const adviceIndent = "    "

// adviceCount returns the last line, which counts every check.
func adviceCount(states map[string]int, checks int) string {
	if states[probe.StateOK] == checks {
		return term.Count(checks, "check") + ": nothing known to disturb measurements"
	}
	return fmt.Sprintf("%s: %d to look at, %d fine, %d unknown; nothing was changed",
		term.Count(checks, "check"), states[probe.StateAdvice], states[probe.StateOK], states[probe.StateUnknown])
}

// machineWords say whose advice it is.
func machineWords(env schema.Env) []string {
	var words []string
	for _, word := range []string{env.Machine, env.CPUModel, env.GPUName} {
		if word != "" {
			words = append(words, word)
		}
	}
	return words
}

// Version has the version of this program, the commit and the tag that it was built from as far as the build knows them, and what it is
// built with.
func Version(version string) answer.Table {
	t := answer.Table{Columns: TextColumns("fact", "value")}
	add := func(fact, value string) { t.Rows = append(t.Rows, []any{fact, value}) }
	add("neurolens", version)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, f := range built(info) {
			add(f[0], f[1])
		}
	}
	add("store_format", term.ValueString(int64(schema.Format)))
	add("duckdb", query.DuckDBVersion())
	add("go", runtime.Version())
	add("platform", runtime.GOOS+"/"+runtime.GOARCH)
	return t
}

// pseudo is the end of a version that Go makes of a commit: its date and the beginning of its hash.
var pseudo = regexp.MustCompile(`[-.](\d{14})-([0-9a-f]{12})(\+dirty)?$`)

// built returns facts about a build, each a name and a value. A build of a checkout has a commit, and a tag if it is tagged. One of a
// module has a tag; of a module without tags the version has the date and 12 digits of the commit.
func built(info *debug.BuildInfo) (facts [][2]string) {
	add := func(name, value string) { facts = append(facts, [2]string{name, value}) }
	made := pseudo.FindStringSubmatch(info.Main.Version)
	if v := info.Main.Version; v != "" && v != "(devel)" && made == nil {
		add("tag", v)
	}
	names := map[string]string{"vcs.revision": "commit", "vcs.time": "commit_date", "vcs.modified": "modified"}
	checkout := false
	for _, s := range info.Settings {
		if name := names[s.Key]; name != "" {
			add(name, s.Value)
			checkout = true
		}
	}
	if made != nil && !checkout {
		add("commit", made[2])
		if date, err := time.Parse("20060102150405", made[1]); err == nil {
			add("commit_date", date.Format(time.RFC3339))
		}
	}
	return facts
}

// Outlook lists the settings that can be held while bench measures, with what each brings.
func Outlook(all []tune.Outlook, width int) term.View {
	var lines []string
	for _, o := range all {
		value := cmp.Or(o.Value, "=VALUE: "+o.Wants)
		switch {
		case o.Missing != "":
			value = o.Missing
		case o.Now != "":
			value = o.Now + " → " + value
		case o.OfMachine && o.Value != "":
			value += " already"
		}
		lines = append(lines, term.Wrapped(o.Name+term.Gap+value, width)...)
		lines = append(lines, term.Wrapped(adviceIndent+o.Gains, width)...)
	}
	return term.View{Commands: lines}
}

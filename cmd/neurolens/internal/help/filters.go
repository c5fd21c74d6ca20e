package help

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema"
)

// Keys that filters have beside columns.
var otherKeys = []cobra.Completion{
	described(filter.KeyRun, "id of a run, or its beginning or end"),
	described(filter.KeySession, "id of a session, last or last~1"),
	described(filter.KeyCommit, "commit of the code, or its beginning"),
	described(filter.KeyBaseline, "name of a baseline"),
}

// usualKeys are the columns that are offered before a letter is typed.
var usualKeys = []string{
	"suite", "benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len", "status", "machine", "gpu_name", "side", "source", "p50", "p99",
}

// entries are the maps of a run by what the keys of their entries begin with.
var entries = []struct{ prefix, column string }{
	{"param.", "params"}, {"tag.", "tags"}, {"env.", "env"}, {"env_missing.", "env_missing"}, {"applied.", "applied"},
}

// filters are the conditions of a filter: a key with its operator, and then a value. An argument that begins as a value of several
// words goes on as that, and else its last word is a condition of its own.
func filters(r request) ([]cobra.Completion, cobra.ShellCompDirective) {
	at := strings.LastIndexAny(r.typed, " (") + 1
	if at > 0 {
		if all := beginning(r.equals(""), r.typed); len(all) > 0 {
			return all, done
		}
		if strings.Count(r.typed, `"`)%2 == 1 {
			return nil, done // within a quoted value that no run has
		}
	}
	before := r.typed[:at]
	r.typed = r.typed[at:]
	all, then := r.equals(before), done
	if _, op, _ := condition(r.typed); op == "" {
		all, then = r.conditions(), open
	}
	for i := range all {
		all[i] = before + all[i]
	}
	return all, then
}

// equals are conditions that a key has a value, after the values that were typed before it; before is what the argument has before
// the condition.
func (r request) equals(before string) []cobra.Completion {
	key, op, values := condition(r.typed)
	if !strings.HasSuffix(op, "=") || strings.ContainsAny(op, "<>") {
		return nil
	}
	head, last := key+op, values
	if at := lastComma(values); at >= 0 {
		head, last = head+values[:at+1], values[at+1:]
	}
	var all []cobra.Completion
	for _, value := range r.valuesOf(key) {
		all = append(all, head+valueWord(before+head, last, value))
	}
	return all
}

// lastComma is where the last comma outside of quotes stands; -1 where there is none.
func lastComma(values string) int {
	at, quoted := -1, false
	for i, c := range values {
		switch {
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			at = i
		}
	}
	return at
}

// orFiles is an offer where a file may stand in place of it.
func orFiles(o offer) offer {
	return func(r request) ([]cobra.Completion, cobra.ShellCompDirective) {
		all, then := o(r)
		return all, then &^ cobra.ShellCompDirectiveNoFileComp
	}
}

// selections are filters, or a run.
func selections(r request) ([]cobra.Completion, cobra.ShellCompDirective) {
	all, then := filters(r)
	if _, op, _ := condition(r.typed); op != "" || r.typed == "" {
		return all, then
	}
	return append(all, runs(r)...), then
}

// condition cuts a word into its parts.
func condition(word string) (key, op, values string) {
	const signs = "=!<>~"
	at := strings.IndexAny(word, signs)
	if at < 0 {
		return word, "", ""
	}
	values = strings.TrimLeft(word[at:], signs)
	return word[:at], word[at : len(word)-len(values)], values
}

// conditions are the keys, each with the operator that is most often wanted.
func (r request) conditions() []cobra.Completion {
	var all []cobra.Completion
	for _, key := range r.ordered() {
		name, about, _ := strings.Cut(key, "\t")
		op := "="
		if f := filter.FieldOf(name); f.Column.Kind == schema.KindReal || strings.HasSuffix(name, "_ns") {
			op = "<"
		} else if strings.HasSuffix(name, ".") {
			op = ""
		}
		all = append(all, described(name+op, about))
	}
	if r.typed == "" || strings.HasPrefix(r.typed, filter.MetricPrefix) {
		return all
	}
	for _, m := range metrics(r) { // before an order and a number with a unit, no prefix is needed
		name, about, _ := strings.Cut(m, "\t")
		if filter.FieldOf(name).Bare {
			all = append(all, described(name+"<", about))
		}
	}
	return all
}

// keys are what filters, groups and orders can all name: the usual columns or, once a letter is typed, all of them; parameters and
// tags of the newest runs; the entries of a map after its name.
func (r request) keys() []cobra.Completion {
	for _, m := range entries {
		if strings.HasPrefix(r.typed, m.prefix) {
			var all []cobra.Completion
			for _, name := range r.keysOf(m.column)[m.column] {
				all = append(all, m.prefix+name)
			}
			return all
		}
	}
	var all []cobra.Completion
	if r.typed == "" {
		for _, name := range usualKeys {
			all = append(all, described(name, schema.RunColumn(name).Doc))
		}
	} else {
		all = columns(r)
	}
	all = append(all, otherKeys...)
	for _, m := range entries {
		all = append(all, described(m.prefix, schema.RunColumn(m.column).Doc))
	}
	known := r.keysOf("params", "tags")
	for _, name := range known["params"] {
		all = append(all, described(filter.ParameterKey(name), "parameter"))
	}
	for _, name := range known["tags"] {
		all = append(all, described("tag."+name, "tag"))
	}
	return all
}

// ordered are what filters and orders can name: keys, and any metric.
func (r request) ordered() []cobra.Completion {
	if !strings.HasPrefix(r.typed, filter.MetricPrefix) {
		return append(r.keys(), described(filter.MetricPrefix, "the median of any metric"))
	}
	all := metrics(r)
	for i := range all {
		all[i] = filter.MetricPrefix + all[i]
	}
	return all
}

// columns are the columns of runs that hold one value.
func columns(request) []cobra.Completion {
	var all []cobra.Completion
	for _, c := range schema.Runs.Columns {
		if len(c.Children) == 0 {
			all = append(all, described(c.Name, c.Doc))
		}
	}
	return all
}

// allColumns are all of them, and the word for that.
func allColumns(request) []cobra.Completion {
	all := []cobra.Completion{described("all", "every column")}
	for _, c := range schema.Runs.Columns {
		all = append(all, described(c.Name, c.Doc))
	}
	return append(all, described("spread", "1.4826 mad / p50: how much samples vary"))
}

// orders are keys to sort by, after a - for the largest first.
func orders(r request) []cobra.Completion {
	at := strings.LastIndex(r.typed, ",") + 1
	sign := ""
	if strings.HasPrefix(r.typed[at:], "-") {
		sign = "-"
	}
	r.typed = r.typed[at+len(sign):]
	all := r.ordered()
	for i := range all {
		all[i] = sign + all[i]
	}
	return all
}

// groups are keys to group by.
func groups(r request) []cobra.Completion {
	r.typed = r.typed[strings.LastIndex(r.typed, ",")+1:]
	return r.keys()
}

// valuesOf are values of a key: those that it can have, where these are known, and those of the newest runs.
func (r request) valuesOf(key string) []cobra.Completion {
	switch key {
	case filter.KeySession:
		return sessions(r)
	case filter.KeyRun:
		return runs(request{CompletionSources: r.CompletionSources, cmd: r.cmd})
	case "status":
		var all []cobra.Completion
		for _, s := range schema.Statuses {
			all = append(all, string(s))
		}
		return all
	}
	return r.textsOf(filter.FieldOf(key))
}

// valueWord is a text as a value after what an argument has before it. It is in quotes only where it would be something else without, or
// where a quote was typed: an argument that is one value of several words needs none.
func valueWord(head, typed string, value cobra.Completion) string {
	text := wordOf(value)
	special := strings.ContainsAny(text, " \t\"(),") || strings.ContainsAny(text[:1], "=<>~") || text == "null"
	quoted := filter.Quote(text)
	if strings.HasPrefix(typed, `"`) || special && filter.Arguments(head+text) != head+quoted {
		return quoted
	}
	return value
}

// assignments are KEY=VALUE, for one value of one key.
func assignments(r request) ([]cobra.Completion, cobra.ShellCompDirective) {
	key, _, found := strings.Cut(r.typed, "=")
	var all []cobra.Completion
	if !found {
		for _, c := range r.keys() {
			name, about, _ := strings.Cut(c, "\t")
			if strings.HasSuffix(name, ".") {
				all = append(all, c)
			} else {
				all = append(all, described(name+"=", about))
			}
		}
		return all, open
	}
	for _, value := range r.valuesOf(key) { // as they are: quotes would be part of them
		all = append(all, key+"="+value)
	}
	return all, done
}

// tags are KEY=VALUE of tags.
func tags(r request) ([]cobra.Completion, cobra.ShellCompDirective) {
	key, _, found := strings.Cut(r.typed, "=")
	var all []cobra.Completion
	if !found {
		for _, name := range tagNames(r) {
			all = append(all, name+"=")
		}
		return all, open
	}
	for _, text := range r.textsOf(filter.Field{Column: schema.RunColumn("tags"), Entry: key}) {
		all = append(all, key+"="+text)
	}
	return all, done
}

// tagNames are the keys of tags.
func tagNames(r request) []cobra.Completion { return r.keysOf("tags")["tags"] }

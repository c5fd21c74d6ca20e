package help

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema"
)

// newest is how many runs of a store are looked at for what it holds.
const newest = 200

// readMemory is how much memory DuckDB may take for it.
const readMemory = 256 << 20

// recent are columns of the newest runs of the stores, newest first. What cannot be read has none.
func (r request) recent(columns ...string) []schema.Run {
	var all []schema.Run
	for _, dir := range r.Stores() {
		db, err := query.Open(r.cmd.Context(), []string{dir}, query.Options{MemoryLimit: readMemory})
		if err != nil {
			continue
		}
		if runs, err := db.Recent(r.cmd.Context(), newest, columns...); err == nil {
			all = append(all, runs...)
		}
		_ = db.Close() // nothing is written
	}
	return all
}

// textsOf are the values that a field has in the newest runs, each once, in ascending order; of a map, those of its entry.
func (r request) textsOf(f filter.Field) []string {
	found := map[string]bool{}
	at := slices.Index(schema.Runs.Columns, f.Column)
	if at < 0 || f.Metric != "" { // of samples: a number
		return nil
	}
	for _, run := range r.recent(f.Column.Name) {
		if text, ok := textOf(schema.RunRow(&run, "")[at], f.Entry); ok {
			found[text] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// textOf is a value as filters have it.
func textOf(value any, entry string) (text string, ok bool) {
	switch value := value.(type) {
	case string:
		return value, value != ""
	case int64:
		return strconv.FormatInt(value, 10), true
	case float64:
		return strconv.FormatFloat(value, 'g', -1, 64), true
	case bool:
		return strconv.FormatBool(value), true
	case map[string]string:
		text, ok = value[entry]
	}
	return text, ok && text != ""
}

// keysOf are the keys that maps have in the newest runs, by the column.
func (r request) keysOf(columns ...string) map[string][]string {
	found := map[string]map[string]bool{}
	for _, run := range r.recent(columns...) {
		row := schema.RunRow(&run, "")
		for _, name := range columns {
			entries, _ := row[slices.Index(schema.Runs.Columns, schema.RunColumn(name))].(map[string]string)
			for key := range entries {
				if found[name] == nil {
					found[name] = map[string]bool{}
				}
				found[name][key] = true
			}
		}
	}
	keys := map[string][]string{}
	for name, of := range found {
		keys[name] = slices.Sorted(maps.Keys(of))
	}
	return keys
}

// column is what a column has in the newest runs.
func column(name string) func(request) []cobra.Completion {
	return func(r request) []cobra.Completion { return r.textsOf(filter.Field{Column: schema.RunColumn(name)}) }
}

// runs are the newest runs: by their ids, and by the ends of these that other commands show.
func runs(r request) []cobra.Completion {
	all := []cobra.Completion{described("last", "the run that started last")}
	for _, run := range r.recent("run_id", "benchmark", "variant", "status", "started_at") {
		about := strings.TrimSpace(run.Benchmark + " " + run.Variant + " " + string(run.Status) + " " + when(run.StartedAt))
		id := run.RunID
		if r.typed != "" && !strings.HasPrefix(id, r.typed) && len(id) > shortID {
			id = id[len(id)-shortID:]
		}
		all = append(all, described(id, about))
	}
	return all
}

// shortID is how much of a run's id people see.
const shortID = 8

// sessions are the newest sessions, and the words for them.
func sessions(r request) []cobra.Completion {
	all := []cobra.Completion{described("last", "the session that began last"), described("last~1", "the one before it")}
	seen := map[string]bool{}
	for _, run := range r.recent("session_id", "suite", "started_at") {
		if id := run.SessionID; !seen[id] {
			seen[id] = true
			all = append(all, described(id, strings.TrimSpace(run.Suite+" "+when(run.StartedAt))))
		}
	}
	return all
}

// when is a time as people read it; empty where it is not known.
func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// metrics are those with a fixed meaning, and those of the newest runs.
func metrics(r request) []cobra.Completion {
	var all []cobra.Completion
	for _, k := range schema.MetricKinds {
		all = append(all, described(k.Name, k.Meaning))
	}
	for _, name := range r.textsOf(filter.Field{Column: schema.RunColumn("metric")}) {
		if !slices.ContainsFunc(schema.MetricKinds, func(k schema.MetricKind) bool { return k.Name == name }) {
			all = append(all, name)
		}
	}
	slices.SortFunc(all, func(a, b cobra.Completion) int { return cmp.Compare(wordOf(a), wordOf(b)) })
	return all
}

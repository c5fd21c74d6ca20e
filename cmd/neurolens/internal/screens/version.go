package screens

import (
	"runtime"
	"runtime/debug"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// Version has the version of this program, the commit and the tag that it was built from as far as the build knows them, and what it is
// built with.
func Version(version string) answer.Table {
	t := answer.Table{Columns: []answer.Column{{Name: "fact", Type: answer.TypeText}, {Name: "value", Type: answer.TypeText}}}
	add := func(fact, value string) { t.Rows = append(t.Rows, []any{fact, value}) }
	add("neurolens", version)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, f := range built(info) {
			add(f[0], f[1])
		}
	}
	add("store_format", output.Text(int64(schema.Format)))
	add("duckdb", query.Engine())
	add("go", runtime.Version())
	add("platform", runtime.GOOS+"/"+runtime.GOARCH)
	return t
}

// built are facts about a build, each a name and a value. A build of a checkout has a commit, one of a module a tag.
func built(info *debug.BuildInfo) (facts [][2]string) {
	names := map[string]string{"vcs.revision": "commit", "vcs.time": "commit_date", "vcs.modified": "modified"}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		facts = append(facts, [2]string{"tag", v})
	}
	for _, s := range info.Settings {
		if name := names[s.Key]; name != "" {
			facts = append(facts, [2]string{name, s.Value})
		}
	}
	return facts
}

package views

import (
	"runtime"
	"runtime/debug"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
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
	add("store_format", term.ValueString(int64(schema.Format)))
	add("duckdb", query.Engine())
	add("go", runtime.Version())
	add("platform", runtime.GOOS+"/"+runtime.GOARCH)
	return t
}

// pseudo is the end of a version that Go makes of a commit: its date and the beginning of its hash.
var pseudo = regexp.MustCompile(`[-.](\d{14})-([0-9a-f]{12})(\+dirty)?$`)

// built are facts about a build, each a name and a value. A build of a checkout has a commit, and a tag if it is tagged. One of a module
// has a tag; of a module without tags the version has the date and 12 digits of the commit.
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

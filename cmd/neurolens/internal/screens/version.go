package screens

import (
	"runtime"
	"runtime/debug"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// Version has the version of this program, and what it is built with.
func Version(version string) answer.Table {
	t := answer.Table{Columns: []answer.Column{{Name: "fact", Type: answer.TypeText}, {Name: "value", Type: answer.TypeText}}}
	add := func(fact, value string) { t.Rows = append(t.Rows, []any{fact, value}) }
	add("neurolens", version)
	add("store_format", output.Text(int64(schema.Format)))
	add("go", runtime.Version())
	add("platform", runtime.GOOS+"/"+runtime.GOARCH)
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return t
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			add("commit", s.Value)
		case "vcs.modified":
			add("modified", s.Value)
		}
	}
	for _, m := range info.Deps {
		switch m.Path {
		case "github.com/duckdb/duckdb-go/v2", "github.com/parquet-go/parquet-go":
			add(m.Path, m.Version)
		}
	}
	return t
}

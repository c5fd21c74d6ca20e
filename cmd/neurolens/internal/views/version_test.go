package views

import (
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// TestBuilt: a build of a checkout says its commit, one of a module its tag, and one that knows neither says nothing.
func TestBuilt(t *testing.T) {
	checkout := &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "vcs.revision", Value: "9f3c1d2"}, {Key: "vcs.time", Value: "2026-11-20T18:02:00Z"}, {Key: "vcs.modified", Value: "true"}}}
	module := &debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}}
	untagged := *checkout
	untagged.Main.Version = "v0.0.0-20261120180200-9f3c1d2a4b5c+dirty"
	for want, info := range map[string]*debug.BuildInfo{
		"commit=9f3c1d2 commit_date=2026-11-20T18:02:00Z modified=true": checkout,
		"tag=v0.1.0": module,
		"commit=9f3c1d2 commit_date=2026-11-20T18:02:00Z modified=true ": &untagged,
		"commit=9f3c1d2a4b5c commit_date=2026-11-20T18:02:00Z":           {Main: debug.Module{Version: "v0.1.1-0.20261120180200-9f3c1d2a4b5c"}},
		"tag=v0.2.0-rc.1": {Main: debug.Module{Version: "v0.2.0-rc.1"}},
		"":                {},
	} {
		got := ""
		for _, f := range built(info) {
			if got != "" {
				got += " "
			}
			got += f[0] + "=" + f[1]
		}
		if got != strings.TrimSpace(want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestVersion: DuckDB is the one that the program has.
func TestVersion(t *testing.T) {
	table := Version("1.2.3")
	at := slices.IndexFunc(table.Rows, func(row []any) bool { return row[0] == "duckdb" })
	if table.Rows[0][1] != "1.2.3" || at < 0 || !regexp.MustCompile(`^v\d+\.\d+\.\d+$`).MatchString(table.Rows[at][1].(string)) {
		t.Errorf("rows are %v", table.Rows)
	}
}

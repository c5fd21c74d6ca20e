package query_test

import (
	"fmt"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// writer knows one volatile fact and one setting.
func writer() query.FactWriter {
	return query.FactWriter{
		Volatile: func(fact string) bool { return fact == "load.1m" },
		Setting:  func(fact string) bool { return fact == "runner.iterations" },
	}
}

// TestUnrelated: runs of a side are distinguished by varying facts, settings and the machine, not by facts about the run itself.
func TestUnrelated(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"env.load.1m": false, "env.thp": false, "tag.lane": false, "block_index": false, "env.runner.iterations": false,
		"env.runner.stderr_tail": true, "env.timer.floor_ns": true, "host_id": true,
	} {
		valuetest.Equal(t, writer().Unrelated(query.FactDifference{Name: name}), want, name, "unrelated")
	}
}

// TestSilent: facts that vary from run to run are no evidence of a change, settings are.
func TestSilent(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"env.runner.iterations": false, "env.runner.command": false, "env.runner.prepare": false, "env.runner.stderr_tail": true, "env.runner.config_sha256": true, "host_id": true, "env.load.1m": true,
		"env.git.tree": true, "env.machine": true, "machine": false, "git_commit": false, "gpu_name": false, "env.gpu.0.vbios": false, "applied.threads": false, "applied.precision": true,
	} {
		valuetest.Equal(t, writer().Silent(query.FactDifference{Name: name}), want, name, "silent")
	}
}

// TestWithout: the remaining facts keep their order; the original list is unchanged.
func TestWithout(t *testing.T) {
	t.Parallel()
	all := []query.FactDifference{
		{Name: "git_commit"},
		{Name: "host_id"},
		{Name: "env.git.tree"},
		{Name: "env.load.1m"},
		{Name: "env.load.5m"},
		{Name: "env.source.path"},
		{Name: "env.source.session"},
		{Name: "applied.model"},
		{Name: "applied.threads"},
		{Name: "env.runner.iterations"},
		{Name: "env.runner.command"},
		{Name: "env.runner.order"},
	}
	if got, want := fmt.Sprint(names(writer().Telling(all))), "[git_commit env.load.5m applied.threads env.runner.iterations env.runner.command]"; got != want || all[1].Name != "host_id" {
		t.Errorf("got %s, want %s", got, want)
	}
	valuetest.Equal(t, fmt.Sprint(names(query.FactWriter{}.Telling(all[:4]))), "[git_commit env.load.1m]", "nothing known")
}

// TestOnce: a setting that was applied as requested is listed once, one that was applied differently is listed too.
func TestOnce(t *testing.T) {
	t.Parallel()
	all := []query.FactDifference{
		{Name: "threads", Base: []string{"1"}, Head: []string{"2"}},
		{Name: "applied.threads", Base: []string{"1"}, Head: []string{"2"}},
		{Name: "streams", Base: []string{"1"}, Head: []string{"2"}},
		{Name: "applied.streams", Base: []string{"1"}, Head: []string{"1"}},
		{Name: "host_id"},
	}
	valuetest.Equal(t, fmt.Sprint(names(writer().Once(all))), "[threads streams applied.streams]")
}

// TestHiddenSetting: the hash of all settings matters if no listed setting differs.
func TestHiddenSetting(t *testing.T) {
	t.Parallel()
	hash := query.FactDifference{Name: "env.runner.config_sha256"}
	for other, want := range map[string]bool{
		"git_commit": true, "env.sweep.sha256": true, "env.runner.iterations": false, "env.runner.command": false, "env.python.executable": false, "executor": false,
		"applied.threads": false,
	} {
		if d, found := writer().HiddenSetting([]query.FactDifference{{Name: other}, hash}); found != want || found && d.Name != hash.Name {
			t.Errorf("beside %s: %v, %v", other, d, found)
		}
	}
	if _, found := writer().HiddenSetting([]query.FactDifference{{Name: "git_commit"}}); found {
		t.Error("found where the hash is the same")
	}
}

func names(all []query.FactDifference) (names []string) {
	for _, d := range all {
		names = append(names, d.Name)
	}
	return names
}

package sweep

import (
	"slices"
	"testing"
)

// TestArtifacts: patterns are filled in at each point; a directory of the run is left to the run.
func TestArtifacts(t *testing.T) {
	s := parse(t, `
command: [x, "{k}", --out, "{run_dir}/o"]
env: {OUT: "{run_dir}"}
build: [make]
grid: {k: [1, 2]}
artifacts: {files: ["out/{k}.json", "{run_dir}/t*", stdout], limit: 1MiB}
`, Overrides{})
	p := s.Points[1]
	if want := []string{"out/2.json", "{run_dir}/t*", "stdout"}; !slices.Equal(p.Artifacts.Files, want) || p.Artifacts.Limit != 1<<20 {
		t.Errorf("%+v, want %v", p.Artifacts, want)
	}
	if got := p.Command[3]; got != "{run_dir}/o" {
		t.Errorf("command: %s", got)
	}
	if p.Env["OUT"] != "{run_dir}" || p.BuildEnv != nil {
		t.Errorf("env %v, of the build %v", p.Env, p.BuildEnv)
	}
	if s := parse(t, "command: [x]\nartifacts: []", Overrides{}); s.Points[0].Artifacts == nil || len(s.Points[0].Artifacts.Files) > 0 {
		t.Errorf("[] is %+v", s.Points[0].Artifacts)
	}
	if s := parse(t, "command: [x]", Overrides{}); s.Points[0].Artifacts != nil {
		t.Errorf("nothing is %+v", s.Points[0].Artifacts)
	}
}

func TestErrorsOfArtifacts(t *testing.T) {
	check := refuses(t, "command: [x]\n")
	check("artifacts: 3", "2: artifacts: want text, got 3: quote it")
	check("artifacts: [a, 3]", "2: artifacts: want text, got 3: quote it")
	check("artifacts: [[a]]", "2: artifacts: want text, got a list")
	check(`artifacts: ""`, "2: artifacts: is empty")
	check("artifacts:", "2: artifacts: want text, got nothing")
	check("artifacts: ['a[']", `2: artifacts: "a[" is not a valid pattern: a [ is not closed, or it ends with a \`)
	check("artifacts: 'out/**/a'", "2: artifacts: ** is not supported: name a folder, which stands for all files in it, at any depth")
	check("artifacts: ['{k}']", "2: artifacts: {k} is not an axis (write {{ and }} for literal braces)")
	check("artifacts: {file: a}", "2: artifacts: unknown key file: did you mean files?")
	check("artifacts: {limit: 1MiB}", "2: artifacts: want files: patterns of files, stdout, stderr")
	check("artifacts: {files: a, limit: 1s}", `2: artifacts.limit: want a size such as 16MiB: "1s": want a value in B, not in s`)
	check("artifacts: {files: a, limit: 0}", "2: artifacts.limit: want a size of at least 1 B, got 0")
	check("cwd: '{run_dir}'", "2: cwd: {run_dir} is the directory of one run: use it only in command, env, artifacts, and in from of metrics and output")
	check("build: [make, '{run_dir}']", "2: build: a build runs before all runs, so it cannot use {run_dir}, the directory of one run")
	check("benchmark: '{run_dir}'", "2: benchmark: {run_dir} is not an axis (write {{ and }} for literal braces)")
}

//go:build linux

package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// host is a service that the script posts to, and what a job of it has in its environment.
type host struct {
	start func(*testing.T, *ci, string) *forge
	token []string
	name  string // the variable that names a job
	run   string // the variable that numbers a job
}

var hosts = map[string]host{
	"github": {gitHub, gitHubToken, "LABEL", "GITHUB_RUN_ID"},
	"gitlab": {gitLab, gitLabToken, "CI_JOB_NAME", "CI_JOB_ID"},
}

// eachHost runs a test with each service and a repository of two commits, in which a stand-in replaces neurolens.
func eachHost(t *testing.T, test func(*testing.T, *ci, *forge, host)) {
	t.Parallel()
	for name, h := range hosts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCI(t, "plain", "--history", "none")
			commitAgain(t, c)
			c.stands(t, 0)
			test(t, c, h.start(t, c, "a-token-of-this-job"), h)
		})
	}
}

// push makes all calls of a job and gives the status of run and the output of all. No other call may end with an error.
func (c *ci) push(t *testing.T, h host, env ...string) (code int, output string) {
	t.Helper()
	return c.steps(t, h, []string{"base", "run", "comment", "issue"}, env)
}

// steps calls the script for some steps, and gives the status of run and the output of all.
func (c *ci) steps(t *testing.T, h host, steps, env []string) (code int, output string) {
	t.Helper()
	for _, step := range steps {
		with := env
		if step != "run" {
			with = append(slices.Clone(env), h.token...)
		}
		ended, says := c.call(t, step, with...)
		output += says
		if step == "run" {
			code = ended
		} else if ended != 0 {
			t.Errorf("%q: %s ends with %d:\n%s", env, step, ended, output)
		}
	}
	return code, output
}

// TestCIJobsApart: two jobs of a matrix have a comment and an issue each, and the fast one does not close the issue of the slow one.
func TestCIJobsApart(t *testing.T) {
	eachHost(t, func(t *testing.T, c *ci, f *forge, h host) {
		for i, push := range []struct {
			job, gate        string
			comments, issues []string
		}{
			{"linux", "1", []string{"linux 1"}, []string{"linux"}},
			{"mac", "0", []string{"linux 1", "mac 0"}, []string{"linux"}},
			{"linux", "1", []string{"linux 1", "mac 0"}, []string{"linux"}},
			{"mac", "1", []string{"linux 1", "mac 1"}, []string{"linux", "mac"}},
			{"mac", "3", []string{"linux 1", "mac 3"}, []string{"linux", "mac"}}, // an inconclusive push closes nothing
			{"linux", "0", []string{"linux 0", "mac 3"}, []string{"mac"}},
		} {
			programtest.WriteFile(t, c.state, "compared", "**gate "+push.gate+"**\n")
			code, output := c.push(t, h, h.name+"="+push.job, "COMPARE_ENDS="+push.gate)
			valuetest.Equal(t, fmt.Sprint(code), strings.Replace(push.gate, "3", "0", 1), "push", i, "ends with", code, output)
			for what, want := range map[*[]entry][]string{&f.comments: push.comments, &f.issues: push.issues} {
				texts := f.mine(*what)
				valuetest.Equal(t, len(texts), len(want), "push", i, texts, want, output)
				for k, text := range texts {
					job, gate, _ := strings.Cut(want[k], " ")
					if !strings.Contains(text, "### Benchmarks: `sweep.yaml, "+job+"`\n") || !strings.Contains(text, "**gate "+gate) {
						t.Errorf("push %d has\n%s\nwant %s", i, text, want[k])
					}
				}
			}
		}
		for _, e := range f.issues {
			if want := regexp.MustCompile(`^benchmark regression: sweep\.yaml, (linux|mac)$`); !want.MatchString(e.title) {
				t.Errorf("the title is %q", e.title)
			}
		}
	})
}

// TestCIKeys: jobs that differ in anything have different keys, which are names of caches and artifacts; a job has one at every push.
func TestCIKeys(t *testing.T) {
	t.Parallel()
	c := newCI(t, "plain")
	seen := map[string]string{}
	for _, env := range []string{
		"", "RUNNER_OS=macOS", "RUNNER_ARCH=ARM64", "FLAGS=", "BENCH_FLAGS=--until-conclusive", "ITERATIONS=9", "BACKEND=cuda", "PRECISION=fp16", "SWEEP=b.yaml",
		"GITHUB_JOB=other", "GITHUB_WORKFLOW=nightly", "CI_JOB_NAME=a: [b, c]", "CI_JOB_NAME=a: [b c]", "LABEL=a/b c", "LABEL=a/b-c", "LABEL=a/bc ", "LABEL=a\nb",
		"LABEL=" + strings.Repeat("x", 300), "LABEL=" + strings.Repeat("x", 301), "LABEL={\n  \"os\": \"ü\"\n}", "LABEL={\n  \"os\": \"ö\"\n}", "LABEL=-->@ann `x`",
	} {
		all := append([]string{"RUNNER_OS=Linux", "RUNNER_ARCH=X64", "GITHUB_JOB=bench", "GITHUB_WORKFLOW=speed"}, env)
		code, output := c.call(t, "key", all...)
		key := strings.TrimSuffix(output, "\n")
		if code != 0 || !regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`).MatchString(key) {
			t.Errorf("%q: it ends with %d: %q", env, code, output)
		}
		if other, there := seen[key]; there {
			t.Errorf("%q and %q have the key %s", env, other, key)
		}
		seen[key] = env
	}
	for _, env := range []string{"BASE=x", "SAVE=1", "GITHUB_RUN_ID=8", "GITHUB_SHA=y", "GITHUB_REF_NAME=z"} {
		if _, key := c.call(t, "key", "LABEL=a/b c", env); seen[strings.TrimSuffix(key, "\n")] != "LABEL=a/b c" {
			t.Errorf("%s: another push has the key %s", env, key)
		}
	}
}

// TestCIEveryStatus: the comment is about this push however it ends, also if it is killed or ends before the measurement.
func TestCIEveryStatus(t *testing.T) {
	eachHost(t, func(t *testing.T, c *ci, f *forge, h host) {
		const hostile = "neurolens: reading s.yaml: ```` </details> <!-- neurolens x --> @ann | #1 \x1b[31m"
		for i, push := range []struct {
			env  []string
			code int
			says string
		}{
			{nil, 0, "**No regression in 7 points**"},
			{[]string{"COMPARE_ENDS=1"}, 1, "**No regression in 7 points**"}, // which stands for any comparison
			{[]string{"BENCH_ENDS=2", "BENCH_SAYS=" + hostile + "\nfor more see help"}, 2, "status 2. A result of an earlier push"},
			{[]string{"STRICT=1", "COMPARE_ENDS=3"}, 3, "**No regression in 7 points**"},
			{[]string{"COMPARE_ENDS=2"}, 2, "status 2"},
			{[]string{"BENCH_ENDS=4"}, 4, "status 4. A result of an earlier push says nothing about this one.\n\n```text\nneurolens.sh: no run was measured successfully\n```"},
			{[]string{"BENCH_ENDS=5", "BENCH_SAYS=neurolens: " + strings.Repeat("ü", 2000)}, 5, "üü...\n```"},
			{[]string{"BENCH_ENDS=6"}, 6, "status 6"},
			{[]string{"BENCH_ENDS=130", "BENCH_SAYS=neurolens: interrupted"}, 130, "status 130. A result of an earlier push says nothing about this one.\n\n```text\nneurolens: interrupted\n```"},
			{nil, 0, "**No regression in 7 points**"},
			{[]string{"BENCH_KILLS=1"}, -1, "the measurement was stopped before its end"},
			{[]string{"SWEEP=sweep.yaml", "FLAGS=--threshold 5%", "BASE=nothing"}, 2, "neurolens.sh: BASE=nothing is not a commit of this clone"},
		} {
			programtest.WriteFile(t, c.state, "compared", "**No regression in 7 points**\n")
			code, output := c.steps(t, h, []string{"run", "comment"}, append(push.env, fmt.Sprintf("%s=%d", h.run, i)))
			texts := f.mine(f.comments)
			if code != push.code || len(texts) != 1 || !strings.Contains(texts[0], push.says) {
				t.Fatalf("%q ends with %d, want %d and %q; the comments are %q\n%s", push.env, code, push.code, push.says, texts, output)
			}
			if measured := strings.Contains(push.says, "**"); measured == strings.Contains(texts[0], "**Not measured** at "+programtest.Git(t, c.dir, "rev-parse", "HEAD")[:12]) {
				t.Errorf("%q: the comment is %s", push.env, texts[0])
			}
			if strings.Contains(texts[0], "@ann") && !strings.Contains(texts[0], "\n\n```text\n"+strings.NewReplacer("`", "", "\x1b", "").Replace(hostile)+"\n```\n") {
				t.Errorf("an error is not in a block of code:\n%s", texts[0])
			}
		}
		// The step that measures was not reached.
		if code, output := c.call(t, "comment", append(h.token, h.run+"=99")...); code != 0 || !strings.Contains(strings.Join(f.mine(f.comments), ""), "a step before the measurement failed") {
			t.Errorf("it ends with %d; the comments are %q\n%s", code, f.mine(f.comments), output)
		}
	})
}

// TestCIBases: a shallow clone, a base that is missing or is the commit itself, and a comparison of nothing fail, strict or not. The first
// commit of a repository alone is measured by itself.
func TestCIBases(t *testing.T) {
	t.Parallel()
	c := newCI(t, "plain", "--history", "none")
	first := *c
	first.dir = filepath.Join(t.TempDir(), "first")
	programtest.Git(t, c.dir, "clone", "-q", "--no-local", ".", first.dir)
	commitAgain(t, c)
	programtest.Git(t, first.dir, "fetch", "-q", "--depth", "1", "file://"+c.dir, "main:later") // git calls the repository shallow; the branch is not
	c.stands(t, 0)
	clone := func(depth string) *ci {
		shallow := *c
		shallow.dir = filepath.Join(t.TempDir(), "clone")
		programtest.Git(t, c.dir, "clone", "-q", "--depth", depth, "file://"+c.dir, shallow.dir)
		return &shallow
	}
	edited := *c
	edited.dir = filepath.Join(t.TempDir(), "edited")
	programtest.Git(t, c.dir, "clone", "-q", "--no-local", ".", edited.dir)
	programtest.WriteFile(t, edited.dir, "price", "1\n")
	outside := *c
	outside.dir = t.TempDir()
	valuetest.OK(t, os.Mkdir(filepath.Join(outside.dir, "ci"), 0o755))
	programtest.WriteFile(t, outside.dir, "ci/neurolens.sh", c.file("ci/neurolens.sh"))
	programtest.WriteFile(t, outside.dir, "sweep.yaml", c.file("sweep.yaml"))
	for name, step := range map[string]struct {
		c    *ci
		env  string
		code int
		says string
	}{
		"shallow":                       {clone("1"), "", 2, "HEAD~1 is not in this clone, which is shallow: fetch all commits (fetch-depth: 0;"},
		"shallow, of a branch":          {clone("1"), "BASE=origin/dev", 2, "origin/dev is not in this clone, which is shallow: fetch all commits (fetch-depth: 0;"},
		"shallow, a push":               {clone("1"), "BASE=" + programtest.Git(t, c.dir, "rev-parse", "HEAD~1") + " SAVE=1", 2, "which is shallow"},
		"shallow, a new branch":         {clone("1"), "BASE=0000000000000000000000000000000000000000 SAVE=1", 2, "which is shallow"},
		"shallow, with the base":        {clone("2"), "", 0, "**found**"},
		"missing":                       {c, "BASE=mian", 2, "BASE=mian is not a commit of this clone: fetch it (fetch-depth: 0), or name another one"},
		"rewritten":                     {c, "BASE=1234567890123456789012345678901234567890 SAVE=1", 0, "the previous commit is used"},
		"itself":                        {c, "BASE=HEAD", 2, "the base is the measured commit itself"},
		"itself, of a branch":           {c, "BASE=main SAVE=1", 2, "the base is the measured commit itself"},
		"itself, edited":                {&edited, "BASE=HEAD", 0, "**found**"},
		"first":                         {&first, "", 0, "**Measured alone**"},
		"outside":                       {&outside, "", 2, "not a git repository"},
		"nothing compared":              {c, "COMPARE_ENDS=3 TEXT=Nothing~was~compared:~no~point~is~ok~on~the~base", 3, "neurolens.sh: Nothing was compared: no point is ok on the base"},
		"failed requests":               {c, "COMPARE_ENDS=3 TEXT=No~regression~found;~1~of~7~points~undecided~(1~estimate);~1~point~with~failed~requests", 3, "neurolens.sh: No regression found; 1 of 7 points undecided (1 estimate); 1 point with failed requests"},
		"nothing decided":               {c, "COMPARE_ENDS=3 TEXT=Nothing~was~decided;~7~of~7~points~inconclusive", 0, "warning: Nothing was decided; 7 of 7 points inconclusive; STRICT=1 makes"},
		"nothing decided, what to do":   {c, "COMPARE_ENDS=3 TEXT=Nothing~was~decided;~7~of~7~points~inconclusive", 0, "add `--metric cpu_user` to `FLAGS`"},
		"some decided":                  {c, "COMPARE_ENDS=3 TEXT=No~regression~found;~1~of~7~points~inconclusive", 0, "warning: No regression found; 1 of 7 points inconclusive; STRICT=1 makes"},
		"a comparison that is refused":  {c, "COMPARE_ENDS=2 TEXT=half", 2, "**Not measured** at "},
		"a commit that nobody measures": {c, "BENCH_ENDS=4", 4, "no run was measured successfully"},
	} {
		env := strings.Fields(step.env)
		text := "found"
		for i := range env {
			env[i] = strings.ReplaceAll(env[i], "~w", " w")
			if said, ok := strings.CutPrefix(env[i], "TEXT="); ok {
				text = strings.ReplaceAll(said, "~", " ")
			}
		}
		programtest.WriteFile(t, c.state, "compared", "**"+text+"**\n")
		for _, strict := range []string{"0", "1"} {
			want := step.code
			if strict == "1" && strings.HasPrefix(step.env, "COMPARE_ENDS=3") {
				want = 3
			}
			code, output := step.c.call(t, "run", append(env, "STRICT="+strict)...)
			if code != want || strict == "0" && !strings.Contains(output, step.says) {
				t.Errorf("%s, STRICT=%s: it ends with %d, want %d and %q:\n%s", name, strict, code, want, step.says, output)
			}
			if report := step.c.file("neurolens-out/comment.md"); code == 2 != strings.Contains(report, "**Not measured** at ") && code != 4 {
				t.Errorf("%s: the report is %s", name, report)
			}
		}
	}
}

// TestCIReset: a branch that was reset to the commit of its issue is compared with the previous commit.
func TestCIReset(t *testing.T) {
	t.Parallel()
	c := newCI(t, "plain", "--history", "none")
	commitAgain(t, c)
	c.stands(t, 0)
	head := programtest.Git(t, c.dir, "rev-parse", "HEAD")
	valuetest.OK(t, os.MkdirAll(filepath.Join(c.dir, "neurolens-out"), 0o755))
	programtest.WriteFile(t, c.dir, "neurolens-out/good", head+"    \n"+head+"\n")
	c.ends(t, "a branch that was reset", 0, "**found**", "run", "BASE=HEAD~1", "SAVE=1")
}

// TestCILongTable: a comparison of 600 points is cut for GitHub, between two rows, and keeps the points that changed. GitLab and the artifact
// get the whole table.
func TestCILongTable(t *testing.T) {
	eachHost(t, func(t *testing.T, c *ci, f *forge, h host) {
		const head = "| BENCHMARK | BASE | CHANGE |\n|---|---:|---|\n"
		var changed, quiet strings.Builder
		for i := range 600 {
			row := &quiet
			if i < 40 {
				row = &changed
			}
			fmt.Fprintf(row, "| größe/%03d × batch %s | 12.0 ms | −3.1 %% |\n", i, strings.Repeat("ä", 60))
		}
		whole := "**2 regressions in 600 points**\n\n" + head + changed.String() + "\n<details><summary>560 points</summary>\n\n" + head + quiet.String() +
			"\n</details>\n\n<details><summary>What was compared</summary>\n\n* latency\n* base\n\n</details>\n"
		programtest.WriteFile(t, c.state, "compared", whole)
		code, output := c.push(t, h, "COMPARE_ENDS=1")
		texts := f.mine(f.comments)
		if code != 1 || len(texts) != 1 || len(f.mine(f.issues)) != 1 {
			t.Fatalf("it ends with %d, and posts %d comments and %d issues:\n%s", code, len(texts), len(f.mine(f.issues)), output[max(0, len(output)-1000):])
		}
		if !strings.HasSuffix(c.file("neurolens-out/comment.md"), whole) {
			t.Error("the artifact is cut")
		}
		for _, text := range append(texts, f.mine(f.issues)...) {
			rows := strings.Count(text, "| größe/")
			if !strings.Contains(text, changed.String()) || strings.Count(text, "</details>") != 2 || !strings.Contains(text, "\n* latency\n* base\n\n</details>\n") {
				t.Errorf("%d rows are left of %s", rows, text[:200]+" ... "+text[len(text)-1000:])
			}
			for line := range strings.Lines(text) {
				if strings.HasPrefix(line, "| größe/") && !strings.HasSuffix(line, "| −3.1 % |\n") {
					t.Errorf("a row is cut: %q", line)
				}
			}
			told := fmt.Sprintf("\n... and %d more rows, in ", 600-rows)
			if cut := f.limit < len(whole); cut != (rows < 600) || cut != strings.Contains(text, told) || cut && len(text) < f.limit*9/10 {
				t.Errorf("%d bytes have %d rows, and do not say %q:\n%s", len(text), rows, told, text[len(text)-600:])
			}
		}
		// Prose that is too long by itself is cut off, between two characters.
		programtest.WriteFile(t, c.state, "compared", "**1 regression** "+strings.Repeat("größe ", f.limit/4)+"\n")
		if code, output := c.push(t, h, "COMPARE_ENDS=1"); code != 1 || !utf8.ValidString(f.mine(f.comments)[0]) || !strings.Contains(f.mine(f.comments)[0], "\n\n... the rest is in ") {
			t.Errorf("prose: it ends with %d:\n%s", code, output[max(0, len(output)-1000):])
		}
		// Nothing but changes, more than fit.
		programtest.WriteFile(t, c.state, "compared", "**600 regressions**\n\n"+head+changed.String()+strings.Repeat(quiet.String(), 30)+"\n")
		if code, output := c.push(t, h, "COMPARE_ENDS=1"); code != 1 || !strings.Contains(f.mine(f.comments)[0], changed.String()) || !strings.Contains(f.mine(f.comments)[0], " more rows, in ") {
			t.Errorf("it ends with %d:\n%s", code, output[len(output)-1000:])
		}
	})
}

// TestCILongTableReal: the Markdown that compare writes about 600 points fits into a comment, with each change.
func TestCILongTableReal(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	c := newCI(t, "plain", "--history", "none")
	commitAgain(t, c)
	f := gitHub(t, c, "github-actions[bot]")
	var runs strings.Builder
	for run := range 12 {
		for point := range 600 {
			value := 1000 + (point*7+run*13)%11
			if point < 5 && run%2 == 1 {
				value *= 2
			}
			fmt.Fprintf(&runs, `{"benchmark": "operations/%03[1]d", "params": {"size": "%[1]d", "layout": "row", "direction": "forward and backward of point %[1]d"}, "session_id": "01M0000000000000000000000A", "repeat_index": %[2]d, "machine": "lab3", "tags": {"side": "%[3]s"}, "started_at": "2026-02-01T00:%02[4]d:00Z", "samples": [{"metric": "latency", "unit": "us", "values": [%[5]d]}]}`+"\n",
				point, run/2, []string{"base", "head"}[run%2], run, value)
		}
	}
	programtest.WriteFile(t, c.state, "runs.jsonl", runs.String())
	if code, output := c.sh(t, `neurolens --store "$STATE/store" ingest "$STATE/runs.jsonl"; neurolens --store "$STATE/store" compare --gate tag.side=base tag.side=head --format md >"$STATE/real" || test $? = 1`); code != 0 {
		t.Fatalf("it ends with %d:\n%s", code, output)
	}
	c.stands(t, 1)
	real := c.value("real")
	programtest.WriteFile(t, c.state, "compared", real)
	if len(real) < 65536 {
		t.Fatalf("the comparison has %d bytes", len(real))
	}
	if code, output := c.push(t, hosts["github"]); code != 1 || len(f.mine(f.comments)) != 1 {
		t.Fatalf("it ends with %d:\n%s", code, output)
	}
	text := f.mine(f.comments)[0]
	for point := range 5 {
		valuetest.Contains(t, text, fmt.Sprintf("operations/%03d", point), "the comment does not have")
	}
	if !strings.Contains(text, " more rows, in ") || strings.Count(text, "<details>") != strings.Count(text, "</details>") || utf8.RuneCountInString(text) > 65536 {
		t.Errorf("the comment is %s", text)
	}
}

// TestCIRefused: a call that a service refuses is a warning, and the job ends as the gate does. A list that could not be read does not count
// as empty.
func TestCIRefused(t *testing.T) {
	eachHost(t, func(t *testing.T, c *ci, f *forge, h host) {
		f.readOnly = true // as for a pull request from a fork
		for _, gate := range []string{"0", "1"} {
			code, output := c.push(t, h, "COMPARE_ENDS="+gate)
			if fmt.Sprint(code) != gate || !strings.Contains(output, "warning: comment: not posted") || !strings.Contains(output, "403") || len(f.comments) > 0 {
				t.Errorf("a token that only reads: it ends with %d:\n%s", code, output)
			}
		}
		f.readOnly = false
		c.push(t, h, "COMPARE_ENDS=1")
		f.unreadable = true
		if code, output := c.push(t, h, "COMPARE_ENDS=1"); code != 1 || len(f.comments) != 1 || len(f.issues) != 1 {
			t.Errorf("a list that cannot be read: it ends with %d, %d comments, %d issues:\n%s", code, len(f.comments), len(f.issues), output)
		}
		f.unreadable = false
		for name, wrong := range map[string][]string{
			"no such token": {"GH_TOKEN=expired", "NEUROLENS_TOKEN=expired"}, "nobody there": {"GH_STAND_IN=http://127.0.0.1:9", "CI_API_V4_URL=http://127.0.0.1:9"},
		} {
			away := h
			away.token = append(slices.Clone(h.token), wrong...)
			code, output := c.push(t, away, "COMPARE_ENDS=1")
			if code != 1 || !strings.Contains(output, "warning: comment: not posted") || !strings.Contains(output, "warning: issue: not posted") || len(f.comments) != 1 || len(f.issues) != 1 {
				t.Errorf("%s: it ends with %d, %d comments, %d issues:\n%s", name, code, len(f.comments), len(f.issues), output)
			}
			// The issue was not found, so the commit was compared with another: it stays open, whatever the gate says.
			c.costs(t, name)
			if code, output := c.push(t, away, "COMPARE_ENDS=0"); code != 0 || len(f.mine(f.issues)) != 1 {
				t.Errorf("%s: it ends with %d:\n%s", name, code, output)
			}
			if code, output := c.call(t, "issue", h.token...); code != 0 || len(f.mine(f.issues)) != 1 || !strings.Contains(output, "it stays as it is") {
				t.Errorf("%s: it closes an issue that it was not compared with, %d:\n%s", name, code, output)
			}
		}
		c.ends(t, "without a token", 0, "no GH_TOKEN and no NEUROLENS_TOKEN", "comment")
	})
}

// TestCIOwn: the script finds its comments and issues on any page, by their mark and by the owner of the token. It edits no text that others
// wrote with the same mark.
func TestCIOwn(t *testing.T) {
	eachHost(t, func(t *testing.T, c *ci, f *forge, h host) {
		_, key := c.call(t, "key")
		mark := "<!-- neurolens " + strings.TrimSpace(key) + " -->\n\n<!-- good " + programtest.Git(t, c.dir, "rev-parse", "HEAD~1") + " -->\nfake"
		f.add("ann", 1, mark)
		f.issues = append(f.issues, entry{id: 900, author: "ann", body: mark})
		f.add("ann", 120, "a note")
		for push := range 2 {
			if code, output := c.push(t, h, "COMPARE_ENDS=1"); code != 1 || len(f.mine(f.comments)) != 1 || len(f.mine(f.issues)) != 1 {
				t.Errorf("push %d ends with %d, %d comments and %d issues are its own:\n%s", push, code, len(f.mine(f.comments)), len(f.mine(f.issues)), output)
			}
			f.add("system", 120, "changed the milestone")
			for range 120 {
				f.issues = append(f.issues, entry{id: 2000 + len(f.issues), author: f.me, body: "another"})
			}
			f.issues = slices.DeleteFunc(f.issues, func(e entry) bool { return e.body == "another" && push < 1 })
		}
		if code, output := c.push(t, h, "COMPARE_ENDS=0"); code != 0 || len(f.mine(f.issues)) != 120 || f.comments[0].body != mark {
			t.Errorf("it ends with %d, %d issues are open:\n%s", code, len(f.mine(f.issues)), output)
		}
	})
}

// TestCIFork: the pipeline of a merge request from a fork runs in the fork, and comments in the target.
func TestCIFork(t *testing.T) {
	t.Parallel()
	c := newCI(t, "plain", "--history", "none")
	commitAgain(t, c)
	c.stands(t, 0)
	f := gitLab(t, c, "a-token-of-this-job")
	fork := append([]string{"CI_PROJECT_ID=99", "CI_MERGE_REQUEST_PROJECT_ID=7"}, gitLabToken...)
	ran, output := c.call(t, "run", fork...)
	if code, says := c.call(t, "comment", fork...); ran != 0 || code != 0 || len(f.mine(f.comments)) != 1 {
		t.Errorf("it ends with %d and %d:\n%s%s", ran, code, output, says)
	}
}

// TestCITokens: the measured program gets no token, and no token is an argument of a program, which every user of a machine sees.
func TestCITokens(t *testing.T) {
	eachHost(t, func(t *testing.T, c *ci, f *forge, h host) {
		tokens := []string{"GH_TOKEN=ghs_secret", "GITHUB_TOKEN=ghs_secret", "NEUROLENS_TOKEN=glpat_secret"}
		if code, output := c.call(t, "run", tokens...); code != 0 || c.value("measured.env") == "" || strings.Contains(c.value("measured.env"), "_secret") {
			t.Errorf("it ends with %d, and what is measured has\n%s%s", code, c.value("measured.env"), output)
		}
		c.push(t, h, "COMPARE_ENDS=1")
		if arguments := c.value("curl.args"); strings.Contains(arguments, "_secret") || h.run == "CI_JOB_ID" && !strings.Contains(arguments, "--header @-") {
			t.Errorf("curl is called with %s", arguments)
		}
		valuetest.Equal(t, len(f.mine(f.comments)), 1, "the comments", f.comments)
	})
}

// TestCISteps: in the workflow and in the action, the steps that post run after any end and cannot fail the job. They alone have the token.
// Caches and artifacts are named by the key of the job.
func TestCISteps(t *testing.T) {
	t.Parallel()
	type step struct {
		Name, Run, If, Uses string
		Continue            bool `yaml:"continue-on-error"`
		Env, With           map[string]string
	}
	var file struct{ Runs struct{ Steps []step } }
	valuetest.OK(t, yaml.Unmarshal([]byte(programtest.RepositoryFile(t, "action.yml")), &file))
	all := map[string][]step{"action": file.Runs.Steps}
	for _, history := range []string{"cache", "artifact", "branch"} {
		dir := t.TempDir()
		programtest.Git(t, dir, "init", "-q", "--template=")
		programtest.Program(t, dir, "ci", "init", "github", "--history", history).MustRun(t)
		text := valuetest.Must(os.ReadFile(filepath.Join(dir, ".github", "workflows", "neurolens.yml")))
		var w struct {
			Jobs struct {
				Bench struct {
					Env   map[string]string
					Steps []step
				}
			}
		}
		valuetest.OK(t, yaml.Unmarshal(text, &w))
		valuetest.Equal(t, w.Jobs.Bench.Env["LABEL"], "${{ github.workflow }}/${{ github.job }} ${{ toJSON(matrix) }}", "the label")
		if keep := w.Jobs.Bench.Steps[0].With["persist-credentials"]; keep != fmt.Sprint(history == "branch") {
			t.Errorf("%s: the token stays in .git/config: %s", history, keep)
		}
		all[history] = w.Jobs.Bench.Steps
	}
	for from, steps := range all {
		var posted []string
		for _, s := range steps {
			switch s.Name {
			case "comment", "issue":
				posted = append(posted, s.Name)
				if !s.Continue || !strings.Contains(s.If, "always() && ") || strings.Contains(s.If, "head.repo") {
					t.Errorf("%s: the step %s runs if %s, and fails the job: %t", from, s.Name, s.If, !s.Continue)
				}
			case "verdict":
				valuetest.Equal(t, s.If, "${{ !cancelled() }}", from, "the verdict is reached if")
			}
			if _, has := s.Env["GH_TOKEN"]; has != slices.Contains([]string{"base", "comment", "issue", "install"}, s.Name) && (s.Name != "earlier runs" || from != "artifact") {
				t.Errorf("%s: the step %s has the token: %t", from, s.Name, has)
			}
			for _, name := range slices.Collect(maps.Values(s.With)) {
				if strings.Contains(name, "neurolens-") && !strings.Contains(name, "outputs.key }}") && !strings.Contains(name, "neurolens-out") {
					t.Errorf("%s: the step %s names %s", from, s.Name, name)
				}
			}
		}
		valuetest.Equal(t, len(posted), 2, from, "posts in the steps", posted)
	}
}

// TestActionUses: the action used twice in one job has two names, and a folder each.
func TestActionUses(t *testing.T) {
	t.Parallel()
	repo := newCI(t, "plain")
	seen := map[string]bool{}
	for use := range 3 {
		a := newAction(t, repo, map[string]string{"version": "installed"})
		if use > 0 {
			a.env = append(a.env, strings.TrimSpace(a.value("GITHUB_ENV")))
		}
		_ = os.Remove(filepath.Join(a.state, "GITHUB_ENV"))
		a.is(t, "installed")
		for _, output := range []string{"key", "out", "label"} {
			value := a.values["steps.source.outputs."+output]
			if value == "" || seen[value] {
				t.Errorf("use %d has the %s %q", use, output, value)
			}
			seen[value] = true
		}
	}
}

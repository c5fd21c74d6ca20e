//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// twoSides makes a repository whose base prints 5 and whose head prints 15, in several languages. It returns its folder, and one that
// is outside of it.
func twoSides(t *testing.T) (dir, outside string) {
	t.Helper()
	outside, dir = t.TempDir(), filepath.Join(t.TempDir(), "repository")
	for _, made := range []string{"src", "tool", "lib", "perl"} {
		valuetest.OK(t, os.MkdirAll(filepath.Join(dir, made), 0o755))
	}
	side := func(value string) {
		for name, text := range map[string]string{
			"Cargo.toml":    "[package]\nname = \"prog\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
			"src/main.rs":   "fn main() { println!(\"value %s\"); }\n",
			"go.mod":        "module example.com/x\n\ngo 1.21\n",
			"tool/main.go":  "package main\n\nfunc main() { println(\"value %s\") }\n",
			"prog.c":        "#include <stdio.h>\nint main(void) { puts(\"value %s\"); return 0; }\n",
			"part.c":        "#include <stdio.h>\nvoid part(void) { puts(\"value %s\"); }\n",
			"whole.c":       "void part(void);\nint main(void) { part(); return 0; }\n",
			"lib/module.py": "def work(): print('value %s')\n",
			"run.py":        "import module\nmodule.work()\n",
			"bench.py":      "import module\nclass B:\n    def benchmark_fn(self): pass\n",
			"perl/My.pm":    "package My; sub work { print \"value %s\\n\" } 1;\n",
			"run.pl":        "use My; My::work();\n",
			"run.sh":        "echo value %s\n",
			"only.sh":       "#!/bin/sh\necho value %s\n",
			"Makefile":      "run: $(BUILD_DIR)/mp\n\t@$(BUILD_DIR)/mp\n\n$(BUILD_DIR)/mp: prog.c\n\t$(CC) -o $@ prog.c\n",
			".gitignore":    "runs_store/\ntarget/\n.venv/\nbin/\nout/\n__pycache__/\n",
		} {
			programtest.WriteFile(t, dir, name, strings.ReplaceAll(text, "%s", value))
		}
		valuetest.OK(t, os.Chmod(filepath.Join(dir, "only.sh"), 0o755))
	}
	side("5")
	programtest.Repository(t, dir)
	side("15")
	programtest.Commit(t, dir)
	return dir, outside
}

// sidesCase is a sweep that is compared with the commit before. In its texts, REPO is the repository and OUT a folder outside.
type sidesCase struct {
	needs string // a tool
	sweep string
	env   []string
	make  func(t *testing.T, dir, out string) // in the working tree, before the call
	want  string                              // an error; empty: base and head have their own values
	kept  string                              // a file that old has made in the working tree
}

// TestEachSideRunsItsOwn: whatever a build, a path or a variable names, each side runs its own code, or the command ends with an error that
// says what to do. Nothing is called unchanged or inconclusive because both sides ran the same.
func TestEachSideRunsItsOwn(t *testing.T) {
	t.Parallel()
	const written = ", which a build has written outside of its own tree"
	venv := func(t *testing.T, dir, _ string) {
		t.Helper()
		out, err := exec.Command(programtest.Interpreter(), "-m", "venv", "--without-pip", filepath.Join(dir, ".venv")).CombinedOutput()
		valuetest.OK(t, err, out)
	}
	made := func(name string) func(*testing.T, string, string) {
		return func(t *testing.T, dir, _ string) {
			t.Helper()
			valuetest.OK(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
		}
	}
	old := func(name string) func(*testing.T, string, string) {
		return func(t *testing.T, dir, out string) {
			t.Helper()
			made(filepath.Dir(name))(t, dir, out)
			script(t, filepath.Join(dir, filepath.Dir(name)), filepath.Base(name))
			programtest.WriteFile(t, dir, name, "#!/bin/sh\n")
		}
	}
	quick := []string{
		"an ignored folder that the command writes into",
		"cargo, an absolute program of the user",
		"go install into an ignored folder of the user",
		"cargo, shared target",
		"go install",
		"cc, absolute",
		"a library",
		"PYTHONPATH",
		"PYTHONPATH, in the sweep",
		"an installed copy, a Python file",
		"PATH",
		"a line of a shell",
		"a path in a line",
		"without a warm-up",
		"with a cleanup",
		"a missing file",
		"an ignored program",
		"an active environment",
		"an editable install",
		"a program of an earlier build",
		"a list of variables that name the tree",
		"a command that builds",
		"a program that setup changes",
		"a program in a line, with a cleanup",
		"data and settings that a build writes",
	}
	const inSession = ", which this session has written outside of its own tree"
	const share = "--set 'share=[.venv]', or share: [.venv] in a sweep file, lets both sides use it; nothing was started"
	for name, c := range map[string]sidesCase{
		"cargo": {
			needs: "cargo", sweep: "build: [[cargo, build, --release, --offline]]\ncommand: [target/release/prog]\n",
		},
		"cargo, shared target": {
			needs: "cargo", sweep: "build: [[cargo, build, --release, --offline]]\ncommand: [OUT/cgt/release/prog]\n",
			env: []string{"CARGO_TARGET_DIR=OUT/cgt"}, want: "both sides run OUT/cgt/release/prog" + written + " (CARGO_TARGET_DIR points there): let each",
		},
		"cargo, an ignored target of the user": {
			needs: "cargo", sweep: "build: [[cargo, build, --release, --offline]]\ncommand: [target/release/prog]\n",
			env: []string{"CARGO_TARGET_DIR=REPO/target"}, make: old("target/release/prog"), kept: "target/release/prog",
		},
		"an ignored folder that the command writes into": {
			sweep: "command: [sh, -c, '. ./run.sh; mkdir -p $RESULTS; echo 1 > $RESULTS/file']\n",
			env:   []string{"RESULTS=REPO/out"}, make: old("out/file"), kept: "out/file",
		},
		"cargo, an absolute program of the user": {
			needs: "cargo", sweep: "build: [[cargo, build, --release, --offline]]\ncommand: [REPO/target/release/prog]\n",
			env: []string{"CARGO_TARGET_DIR=REPO/target"}, make: old("target/release/prog"), kept: "target/release/prog",
			want: "REPO/target/release/prog is an absolute path in the repository, so it is the same on both sides: make it relative",
		},
		"cargo, target in the tree": {
			needs: "cargo", sweep: "build: [[cargo, build, --release, --offline]]\ncommand: [target/release/prog]\n",
			env: []string{"CARGO_TARGET_DIR=REPO/target"},
		},
		"go install": {
			needs: "go", sweep: "build: [[go, install, ./tool]]\ncommand: [tool]\nmetrics: {v: {regex: 'value (.*)', from: stderr}}\n",
			env: []string{"GOBIN=OUT/bin", "PATH=OUT/bin:" + os.Getenv("PATH")}, want: "both sides run OUT/bin/tool" + written + " (GOBIN points there)",
		},
		"go install into the tree": {
			needs: "go", sweep: "build: [[go, install, ./tool]]\ncommand: [tool]\nmetrics: {v: {regex: 'value (.*)', from: stderr}}\n",
			env: []string{"GOBIN=REPO/bin", "PATH=REPO/bin:" + os.Getenv("PATH")},
		},
		"go install into an ignored folder of the user": {
			needs: "go", sweep: "build: [[go, install, ./tool]]\ncommand: [tool]\nmetrics: {v: {regex: 'value (.*)', from: stderr}}\n",
			env: []string{"GOBIN=REPO/bin", "PATH=REPO/bin:" + os.Getenv("PATH")}, make: old("bin/tool"), kept: "bin/tool",
		},
		"cc, absolute": {
			needs: "cc", sweep: "build: [[sh, -c, 'cc -o $TARGET_DIR/prog prog.c']]\ncommand: [OUT/prog]\n",
			env: []string{"TARGET_DIR=OUT"}, want: "both sides run OUT/prog" + written + " (TARGET_DIR points there)",
		},
		"cc, in a line of a shell": {
			needs: "cc", sweep: "build: [[sh, -c, 'cc -o $TARGET_DIR/prog prog.c']]\ncommand: [sh, -c, '$TARGET_DIR/prog']\n",
			env: []string{"TARGET_DIR=OUT"}, want: "both sides run OUT/prog" + written,
		},
		"a command that builds": {
			needs: "make", sweep: "command: [make, -s, run]\n", env: []string{"BUILD_DIR=OUT"},
			want: "both sides run OUT/mp" + inSession + " (BUILD_DIR points there)",
		},
		"a command that builds in the tree": {
			needs: "make", sweep: "command: [make, -s, run]\n", env: []string{"BUILD_DIR=REPO"},
		},
		"a command that builds, cargo": {
			needs: "cargo", sweep: "command: [cargo, run, -q, --release, --offline]\n", env: []string{"CARGO_TARGET_DIR=OUT/cgt"},
			want: "both sides run OUT/cgt/release/prog" + inSession + " (CARGO_TARGET_DIR points there)",
		},
		"a command that builds, go": {
			needs: "go", sweep: "command: [go, run, ./tool]\nmetrics: {v: {regex: 'value (.*)', from: stderr}}\n",
		},
		"a command that runs the same program of go's cache": {
			needs: "go", sweep: "command: [sh, -c, 'go run OUT/same.go && . ./run.sh']\n",
			make: func(t *testing.T, _, out string) {
				t.Helper()
				programtest.WriteFile(t, out, "same.go", "package main\n\nfunc main() {}\n")
			},
		},
		"a program that setup changes": {
			needs: "cc", sweep: "build: [[sh, -c, 'cc -o OUT/prog prog.c']]\nsetup: [sh, -c, 'chmod 700 OUT/prog']\ncommand: [sh, -c, '$TARGET_DIR/prog']\n",
			env: []string{"TARGET_DIR=OUT"}, want: "both sides run OUT/prog" + written,
		},
		"a program that the command changes": {
			needs: "cc", sweep: "build: [[sh, -c, 'cc -o OUT/prog prog.c']]\ncommand: [sh, -c, 'strip $TARGET_DIR/prog; $TARGET_DIR/prog']\n",
			env: []string{"TARGET_DIR=OUT"}, want: "both sides run OUT/prog" + inSession,
		},
		"a program in a line, with a cleanup": {
			needs: "cc", sweep: "build: [[sh, -c, 'cc -o OUT/prog prog.c']]\ncommand: [sh, -c, 'exec OUT/prog']\ncleanup: ['true']\n",
			want: "both sides run OUT/prog" + written,
		},
		"a script in a line, with a cleanup": {
			sweep: "build: [[cp, run.sh, OUT/script]]\ncommand: [sh, -c, '. OUT/script']\ncleanup: ['true']\n", want: "both sides read OUT/script" + written,
		},
		"data and settings that a build writes": {
			sweep: "build: [[git, config, --global, --add, safe.directory, '*'], [sh, -c, 'echo > OUT/data']]\n" +
				"command: [sh, -c, 'git status --short > OUT/status; cat OUT/data; . ./run.sh']\n",
			env: []string{"GIT_CONFIG_GLOBAL=OUT/gitconfig"},
		},
		"a build that finds its file done": {
			needs: "cc", sweep: "build: [[sh, -c, 'test -e OUT/prog || cc -o OUT/prog prog.c']]\ncommand: [OUT/prog]\n",
			want: "both sides run OUT/prog" + written,
		},
		"a script of a build": {
			sweep: "build: [[cp, run.sh, OUT/script]]\ncommand: [sh, OUT/script]\n", want: "both sides read OUT/script" + written,
		},
		"a program of an earlier build": {
			sweep: "build: [['true']]\ncommand: [OUT/prog]\n",
			make: func(t *testing.T, _, out string) {
				t.Helper()
				script(t, out, "prog")
				programtest.WriteFile(t, out, "prog", "#!/bin/sh\necho value 1\n")
			},
			want: "it uses nothing from the repository",
		},
		"a library": {
			needs: "cc", sweep: "build: [[sh, -c, 'cc -shared -fPIC -o OUT/libpart.so part.c && cc -o whole whole.c -LOUT -lpart']]\ncommand: [./whole]\n",
			env: []string{"LD_LIBRARY_PATH=OUT"}, want: "both sides run OUT/libpart.so" + written + " (LD_LIBRARY_PATH points there)",
		},
		"a library in the tree": {
			needs: "cc", sweep: "build: [[sh, -c, 'mkdir out && cc -shared -fPIC -o out/libpart.so part.c && cc -o whole whole.c -Lout -lpart']]\ncommand: [./whole]\n",
			env: []string{"LD_LIBRARY_PATH=REPO/out"},
		},
		"a library of the user": {
			needs: "cc", sweep: "build: [[sh, -c, 'cc -o whole whole.c -L$LIBRARY_PATH -lpart']]\ncommand: [./whole]\n",
			env: []string{"LIBRARY_PATH=REPO/out", "LD_LIBRARY_PATH=REPO/out"},
			make: func(t *testing.T, dir, out string) {
				t.Helper()
				made("out")(t, dir, out)
				if text, err := exec.Command("cc", "-shared", "-fPIC", "-o", dir+"/out/libpart.so", dir+"/part.c").CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
			},
			want: " ran REPO/out/libpart.so, which only your working tree has",
		},
		"PYTHONPATH":            {needs: "python3", sweep: "command: [PYTHON, run.py]\n", env: []string{"PYTHONPATH=REPO/lib"}},
		"PYTHONPATH, a command": {needs: "python3", sweep: "command: [sh, -c, 'PYTHON run.py']\n", env: []string{"PYTHONPATH=REPO/lib"}},
		"PYTHONPATH, another name": {
			needs: "python3", sweep: "command: [PYTHON, run.py]\n", env: []string{"PYTHONPATH=OUT/link/lib"},
			make: func(t *testing.T, dir, out string) {
				t.Helper()
				valuetest.OK(t, os.Symlink(dir, filepath.Join(out, "link")))
			},
			want: "module.py, which is in your working tree (PYTHONPATH points there): let each side use its own, by a relative path",
		},
		"PYTHONPATH, in the sweep": {
			needs: "python3", sweep: "command: [PYTHON, run.py]\nenv: {PYTHONPATH: REPO/lib}\n",
			want: "env.PYTHONPATH: REPO/lib is an absolute path in the repository, so it is the same on both sides: make it relative",
		},
		"an installed copy": {
			needs: "python3", sweep: "build: [[cp, lib/module.py, OUT]]\ncommand: [PYTHON, run.py]\n", env: []string{"PYTHONPATH=OUT"},
			want: "both sides read OUT/module.py" + written,
		},
		"an installed copy, a Python file": {
			needs: "python3", sweep: "build: [[cp, lib/module.py, OUT]]\nfile: bench.py:B\npython: PYTHON\n", env: []string{"PYTHONPATH=OUT"},
			want: "both sides read OUT/module.py" + written,
		},
		"PERL5LIB":           {needs: "perl", sweep: "command: [perl, run.pl]\n", env: []string{"PERL5LIB=REPO/perl"}},
		"a flag with a path": {needs: "perl", sweep: "command: [perl, run.pl]\n", env: []string{"PERL5OPT=-IREPO/perl"}},
		"PATH":               {sweep: "command: [sh, -c, 'only.sh']\n", env: []string{"PATH=REPO:" + os.Getenv("PATH")}},
		"a list of variables that name the tree": {
			sweep: "command: [sh, run.sh]\n", env: []string{"VIRTUAL_ENV=REPO/.venv", "OLDPWD=REPO/lib", "EDITOR=REPO/.venv/vi", "PATH=REPO/.venv/bin:" + os.Getenv("PATH")},
			make: made(".venv/bin"),
		},
		"a line of a shell":  {sweep: "command: [sh, -c, '. ./run.sh']\n"},
		"a path in a line":   {sweep: "command: [sh, -c, '. REPO/run.sh']\n", want: "REPO/run.sh is an absolute path in the repository, so it is the same on both sides: make it relative"},
		"a pattern":          {sweep: "command: [sh, -c, 'cat r*.sh | sh']\n"},
		"stdin":              {sweep: "command: [sh]\nstdin: REPO/run.sh\n", want: "stdin: REPO/run.sh is an absolute path in the repository"},
		"stdin, relative":    {sweep: "command: [sh]\nstdin: run.sh\n"},
		"cwd":                {sweep: "command: [sh, run.sh]\ncwd: REPO\n", want: "cwd: REPO is an absolute path in the repository"},
		"a hook":             {sweep: "setup: [sh, REPO/run.sh]\ncommand: [sh, run.sh]\n", want: "setup: REPO/run.sh is an absolute path in the repository"},
		"a build":            {sweep: "build: [[sh, REPO/run.sh]]\ncommand: [sh, run.sh]\n", want: "build: REPO/run.sh is an absolute path in the repository"},
		"without a warm-up":  {sweep: "command: [sh, -c, 'echo value 1']\nwarmup: 0\n", want: "it uses nothing from the repository"},
		"with a cleanup":     {sweep: "command: [sh, -c, 'echo value 1']\ncleanup: ['true']\n", want: "it uses nothing from the repository"},
		"a missing file":     {sweep: "command: [sh, nosuch.sh]\n", want: "sweep.yaml: sh: nosuch.sh: no such file"},
		"a missing program":  {sweep: "command: [./nosuch]\n", want: "./nosuch: no such file or directory; nothing was started"},
		"an ignored program": {sweep: "command: [.venv/bin/prog]\n", make: ignoredProgram, want: ".venv/bin/prog: no such file or directory; only your working tree has it: " + share},
		"an active environment": {
			needs: "python3", sweep: "command: [python, run.py]\n", env: []string{"PYTHONPATH=REPO/lib", "PATH=REPO/.venv/bin:" + os.Getenv("PATH")},
			make: venv, want: "REPO/.venv/bin/python is in your working tree, and neither side has it: " + share,
		},
		"an active environment, shared": {
			needs: "python3", sweep: "command: [python, run.py]\nshare: [.venv]\n",
			env: []string{"PYTHONPATH=REPO/lib", "PATH=REPO/.venv/bin:" + os.Getenv("PATH")}, make: venv,
		},
		"an environment": {
			needs: "python3", sweep: "command: [.venv/bin/python, run.py]\n", env: []string{"PYTHONPATH=REPO/lib"},
			make: venv, want: ".venv/bin/python: no such file or directory; only your working tree has it: " + share,
		},
		"an environment, shared": {
			needs: "python3", sweep: "command: [.venv/bin/python, run.py]\nshare: [.venv]\n", env: []string{"PYTHONPATH=REPO/lib"}, make: venv,
		},
		"an environment, absolute and shared": {
			needs: "python3", sweep: "command: [REPO/.venv/bin/python, run.py]\nshare: [.venv]\n", env: []string{"PYTHONPATH=REPO/lib"}, make: venv,
		},
		"an editable install": {
			needs: "python3", sweep: "command: [.venv/bin/python, run.py]\nshare: [.venv]\n",
			make: func(t *testing.T, dir, out string) {
				t.Helper()
				venv(t, dir, out)
				folders, err := filepath.Glob(filepath.Join(dir, ".venv/lib/python3*/site-packages"))
				if err != nil || len(folders) == 0 {
					t.Fatalf("no site-packages: %v", err)
				}
				programtest.WriteFile(t, folders[0], "editable.pth", filepath.Join(dir, "lib")+"\n")
			},
			want: "read REPO/lib/module.py, which is in your working tree: let each side use its own, by a relative path",
		},
	} {
		if !programtest.Long() && !slices.Contains(quick, name) {
			continue
		}
		t.Run(strings.ReplaceAll(name, ",", ""), func(t *testing.T) {
			t.Parallel()
			c.try(t)
		})
	}
}

// try makes the repository and compares its sides.
func (c sidesCase) try(t *testing.T) {
	t.Helper()
	if tool := c.needs; tool == "python3" {
		_, err := exec.LookPath(programtest.Interpreter())
		programtest.Needs(t, tool, err)
	} else if tool != "" {
		_, err := exec.LookPath(tool)
		programtest.Needs(t, tool, err)
	}
	dir, out := twoSides(t)
	python, err := exec.LookPath(programtest.Interpreter())
	if err != nil {
		python = programtest.Interpreter()
	}
	fill := strings.NewReplacer("REPO", dir, "OUT", out, "PYTHONPATH", "PYTHONPATH", "PYTHON", python).Replace
	text := fill(c.sweep) + "iterations: 1\nrepeats: 1\n"
	if !strings.Contains(text, "metrics:") && !strings.Contains(text, "file:") {
		text += "metrics: {v: {regex: 'value (.*)'}}\n"
	}
	programtest.WriteFile(t, out, "sweep.yaml", text)
	if c.make != nil {
		c.make(t, dir, out)
	}
	bench := programtest.Program(t, dir, "bench", filepath.Join(out, "sweep.yaml"), "--against", "HEAD~1")
	bench.Env = append(bench.Env, "XDG_CACHE_HOME="+t.TempDir(), "PYTHONDONTWRITEBYTECODE=1")
	if c.needs == "go" { // its cache would be in that folder
		bench.Env = append(bench.Env, "GOCACHE="+goCache(t))
	}
	for _, entry := range c.env {
		bench.Env = append(bench.Env, fill(entry))
	}
	_ = bench.Run()
	said, code := bench.Messages.String(), bench.ProcessState.ExitCode()
	if c.kept != "" {
		valuetest.Equal(t, string(valuetest.Must(os.ReadFile(filepath.Join(dir, c.kept)))), "#!/bin/sh\n", c.kept, "of the user")
	}
	if c.want != "" {
		if want := fill(c.want); code != 2 || !strings.Contains(said, want) || strings.Contains(bench.Printed.String()+said, "unchanged") {
			t.Errorf("exit %d, want 2 and %q\n%s%s", code, want, bench.Printed.String(), said)
		}
		return
	}
	got := rows(t, dir, "SELECT side, samples.p50 FROM samples JOIN runs USING (run_id) WHERE samples.metric = 'v' ORDER BY 1")
	valuetest.Equal(t, code, 0, "exit", bench.Printed.String(), said)
	valuetest.Equal(t, got, "[base 5] [head 15]", "exit", bench.Printed.String(), said)
}

// goCache returns the folder in which go keeps compiled packages and programs.
func goCache(t *testing.T) string {
	t.Helper()
	out := valuetest.Must(exec.Command("go", "env", "GOCACHE").Output())
	return strings.TrimSpace(string(out))
}

// ignoredProgram makes a program that git ignores.
func ignoredProgram(t *testing.T, dir, _ string) {
	t.Helper()
	valuetest.OK(t, os.MkdirAll(filepath.Join(dir, ".venv/bin"), 0o755))
	script(t, filepath.Join(dir, ".venv/bin"), "prog")
}

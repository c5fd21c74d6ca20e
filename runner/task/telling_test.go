package task

import (
	"os"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestTellingLine: of what programs wrote to standard error as they failed, the line that says why. Their texts are as they wrote them, but
// for paths and the middles of long ones.
func TestTellingLine(t *testing.T) {
	text := valuetest.Must(os.ReadFile("testdata/stderr.txt"))
	told := map[string]string{
		"sort": "sort: unrecognized option '--nosuch'", "sed": "sed: unrecognized option '--nosuch'", "grep": "grep: unrecognized option '--nosuch'",
		"tar": "tar: unrecognized option '--nosuch'", "xz": "xz: unrecognized option '--nosuch'", "cp": "cp: missing destination file operand after 'a'",
		"curl": "curl: option --nosuch: is unknown", "git": "unknown option: --nosuch", "gitsub": "fatal: not a git repository (or any of the parent directories): .git",
		"argparse": "prog: error: the following arguments are required: --size", "traceback": "RuntimeError: cannot read the settings", "syntax": "SyntaxError: invalid syntax",
		"module": "/usr/bin/python3: No module named nosuch", "node": "Error: boom", "nodeopt": "node: bad option: --nosuch",
		"java": "Caused by: java.lang.RuntimeException: boom", "javamain": "Caused by: java.lang.ClassNotFoundException: NoSuch",
		"rust": "index out of bounds: the len is 0 but the index is 5", "clap": "error: unexpected argument '--nosuch' found",
		"clap2":  "error: the following required arguments were not provided: --size <SIZE>",
		"goflag": "flag provided but not defined: -x", "gopanic": "panic: boom", "gofile": "stat nosuch.go: no such file or directory",
		"gcc": "bad.c:1:25: error: ‘x’ undeclared (first use in this function)", "ld": "undef.c:(.text+0xa): undefined reference to `x'",
		"make": "cat: nosuch: No such file or directory", "perl": "boom at d.pl line 2.", "confess": "boom at conf.pl line 1.: main::f() called at conf.pl line 1",
		"cpp":  "terminate called after throwing an instance of 'std::runtime_error': what():  boom",
		"bash": "bash: line 1: nosuch: command not found", "env": "env: ‘nosuch’: No such file or directory", "jq": "jq: error (at <unknown>): boom", "jqopt": "jq: Unknown option --nosuch",
		"mawk": "mawk: not an option: --nosuch", "cmake": "CMake Error: Unknown argument --nosuch", "ninja": "ninja: unrecognized option '--nosuch'",
		"openssl": `Invalid command 'nosuch'; type "help" for a list.`, "sqlite": "sqlite3: Error: unknown option: -nosuch", "sqlite2": "Error: in prepare, no such column: x",
		"docker": "unknown flag: --nosuch", "hyperfine": "error: Found argument '--nosuch' which wasn't expected, or isn't valid in this context", "ssh": "unknown option -- -",
		"cargo": "error: no such command: `nosuch`", "cargob": "error: could not find `Cargo.toml` in `/src` or any parent directory",
		"psql":    `psql: error: connection to server on socket "/nosuch/.s.PGSQL.5432" failed: No such file or directory: Is the server running locally and accepting connections on that socket?`,
		"gccfile": "cc1: fatal error: nofile.c: No such file or directory", "gccnone": "gcc: fatal error: no input files",
		"tarfile": "tar: nosuch.tar: Cannot open: No such file or directory", "tarchild": "tar (child): nosuch.tgz: Cannot open: No such file or directory",
		"tarstat": "tar: nosuch: Cannot stat: No such file or directory", "pylines": "ValueError: bad", "pychain": "RuntimeError: x", "pynote": "ValueError: bad", "pyname": "Boom",
		"ls2": "ls: cannot access 'nosuch': No such file or directory", "dd": "dd: failed to open 'nosuch': No such file or directory",
	}
	for section := range strings.SplitSeq(strings.TrimPrefix(string(text), "=== "), "\n=== ") {
		name, said, _ := strings.Cut(section, "\n")
		if got := ErrorLine(said); told[name] == "" || got != told[name] {
			t.Errorf("%s: %q, want %q", name, got, told[name])
		}
		delete(told, name)
	}
	for name := range told {
		t.Errorf("%s has no text", name)
	}
}

// TestTellingLineElse: what no program at hand wrote.
func TestTellingLineElse(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "\n \n": "", "one\ntwo\n": "two", "  only\n  excerpts\n": "excerpts",
		"error: no cache, going on\n\ngiving up\n":                                                       "error: no cache, going on", // as the error of a trace
		"error: retry 1\nerror: retry 2\ngiving up":                                                      "giving up",
		"10 %\r50 %\rdisk full\r\n":                                                                      "disk full",
		"lua: x.lua:1: boom\nstack traceback:\n\t[C]: in ?\n\tx.lua:1: in main\n":                        "lua: x.lua:1: boom",
		"error: ignored\nTraceback (most recent call last):\n  File \"a\"\n    f()\nmine.Boom: no\n":     "mine.Boom: no",
		"fatal: could not read 'x'\nFor help see https://x\n":                                            "fatal: could not read 'x'",
		"ready\nSee https://x for details.\nno space left\n":                                             "no space left",
		"Traceback (most recent call last):\n  File \"a\"\nmine.Boom: a\nb\n\nc\n":                       "mine.Boom: a",
		"Traceback (most recent call last):\n  File \"a\"\nmine.Boom: a\nb\n\nfatal: the build failed\n": "fatal: the build failed",
		"usage: x\n": "usage: x", "these are wrong:\n  a\n": "these are wrong: a",
		"Usage: prog [OPTIONS]\nTry 'prog --help' for help.\n\nError: No such option: --nosuch\n": "Error: No such option: --nosuch",
	} {
		valuetest.DeepEqual(t, ErrorLine(text), want, text)
	}
}

// TestTellingOutput: where standard error says nothing, the reason is on standard output, also of programs that test.
func TestTellingOutput(t *testing.T) {
	for text, want := range map[string]string{
		"loading\nValueError: shape mismatch (7, 3)\n": "ValueError: shape mismatch (7, 3)",
		"==== FAILURES ====\n____ test_a ____\n\n>   assert x == 4\nE   AssertionError: no\n\ntest_x.py:3: AssertionError\n" +
			"==== short test summary info ====\nFAILED test_x.py::test_a - AssertionError: no\n==== 1 failed, 1 passed in 0.09s ====\n": "FAILED test_x.py::test_a - AssertionError: no",
		"--- FAIL: TestA (0.00s)\n    x_test.go:3: got 7\nFAIL\nFAIL\tg\t0.002s\nFAIL\n":   "--- FAIL: TestA (0.00s): x_test.go:3: got 7",
		"[ RUN      ] A.B\na.cc:1: Failure\n[  FAILED  ] A.B (0 ms)\n\n 1 FAILED TEST\n":   "[  FAILED  ] A.B (0 ms)",
		"step 1\n\x1b[1;31mFAILED \x1b[0mtest_x.py::test_a\n\x1b[31m1 failed\x1b[0m\n":     "FAILED test_x.py::test_a",
		"1..2\nok 1 - a\nnot ok 2 - b\n# got 3\n":                                          "not ok 2 - b",
		"test a ... ok\ntest b ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed\n":    "test b ... FAILED",
		"1/1 Test #1: a ...***Failed    0.01 sec\n\nTotal Test time (real) =   0.02 sec\n": "1/1 Test #1: a ...***Failed    0.01 sec",
	} {
		file := func(text string) *os.File {
			f := valuetest.Must(os.CreateTemp(t.TempDir(), ""))
			t.Cleanup(func() { f.Close() })
			valuetest.Must(f.WriteString(text))
			return f
		}
		valuetest.DeepEqual(t, withErrorLine("exit status 3", file(" \n"), file(text)), "exit status 3: "+want, text)
		valuetest.DeepEqual(t, withErrorLine("exit status 3", file("no\n"), file(text)), "exit status 3: no", text)
	}
}

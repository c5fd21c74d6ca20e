// Command table runs the benchmarks of NeuroLens, with what they are compared with, and prints one table of them:
//
//	NEUROLENS_SCALE_DIR=/var/tmp/scale go run ./table [REGEXP]
//
// REGEXP chooses among the names of benchmarks. The stores are made the first time, which takes minutes, and stay in that directory; all benchmarks
// take hours. What this machine lacks something for is left out, and the output of the benchmarks, which goes to standard error, says why. The table,
// in Markdown, goes to standard output. The exit status is 1 if a goal is missed by more than the noise, and 2 if a benchmark fails, or none
// was measured; the table then has what was measured before.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

func main() {
	rows, err := run(os.Args[1:])
	if len(rows) > 0 {
		fmt.Print(markdown(rows))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(2)
	}
	for _, r := range rows {
		if r.verdict() == missed {
			os.Exit(1)
		}
	}
}

// run runs the benchmarks that match the only argument, or all. After an error it returns the rows that were measured before.
func run(args []string) (rows []row, err error) {
	if len(args) > 1 || len(args) == 1 && strings.HasPrefix(args[0], "-") {
		return nil, fmt.Errorf("want at most one regular expression, got %q", args)
	}
	pattern := "."
	if len(args) == 1 {
		pattern = args[0]
	}
	for _, s := range suites {
		out, failed := s.run(pattern)
		found, err := s.rows(bytes.NewReader(out))
		rows = append(rows, found...)
		if err := errors.Join(failed, err); err != nil {
			return rows, err
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no benchmark was measured: %q matches none, or they were skipped", pattern)
	}
	return rows, nil
}

// run returns the output of the benchmarks of a suite that match.
func (s suite) run(pattern string) ([]byte, error) {
	if s.bench != "" {
		if matched, err := matches(pattern, s.bench); err != nil || !matched {
			return nil, err
		}
		pattern = s.bench
	}
	args := append([]string{"test", s.pkg, "-run", "^$", "-bench", pattern, "-timeout", "4h", "-v"}, s.args...)
	cmd := exec.Command("go", args...)
	cmd.Dir = s.dir
	cmd.Env = os.Environ()
	if dir := os.Getenv("NEUROLENS_SCALE_DIR"); dir != "" && s.onDisk {
		cmd.Env = append(cmd.Env, "TMPDIR="+dir)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, os.Stderr), os.Stderr
	if err := cmd.Run(); err != nil {
		return out.Bytes(), fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return out.Bytes(), nil
}

// Command table runs the benchmarks of NeuroLens, with what they are compared with, and prints one table of them:
//
//	NEUROLENS_SCALE_DIR=/var/tmp/scale go run ./table [REGEXP]
//
// REGEXP chooses among the names of benchmarks. The stores are made the first time, which takes minutes, and stay in that directory; all benchmarks
// take about two hours. What this machine lacks something for is left out, with a line that says so. The output of the benchmarks goes to
// standard error, the table, in Markdown, to standard output. The exit status is 1 if a goal is missed by more than the noise, and 2 if a benchmark
// cannot be run.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

func main() {
	rows, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(2)
	}
	fmt.Print(markdown(rows))
	for _, r := range rows {
		if r.verdict() == missed {
			os.Exit(1)
		}
	}
}

// run runs the benchmarks that match the only argument, or all.
func run(args []string) (rows []row, err error) {
	if len(args) > 1 || len(args) == 1 && strings.HasPrefix(args[0], "-") {
		return nil, fmt.Errorf("want at most one regular expression, got %q", args)
	}
	pattern := "."
	if len(args) == 1 {
		pattern = args[0]
	}
	for _, s := range suites {
		out, err := s.run(pattern)
		if err != nil {
			return nil, err
		}
		found, err := s.rows(bytes.NewReader(out))
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
	}
	return rows, nil
}

// run is the output of the benchmarks of a suite that match.
func (s suite) run(pattern string) ([]byte, error) {
	if s.bench != "" {
		if matched, err := matches(pattern, s.bench); err != nil || !matched {
			return nil, err
		}
		pattern = s.bench
	}
	args := append([]string{"test", s.pkg, "-run", "^$", "-bench", pattern, "-timeout", "4h"}, s.args...)
	cmd := exec.Command("go", args...)
	cmd.Dir = s.dir
	cmd.Env = os.Environ()
	if dir := os.Getenv("NEUROLENS_SCALE_DIR"); dir != "" && s.onDisk {
		cmd.Env = append(cmd.Env, "TMPDIR="+dir)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, os.Stderr), os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return out.Bytes(), nil
}

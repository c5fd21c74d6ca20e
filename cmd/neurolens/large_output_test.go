package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// peakRole is the variable that makes the test binary run the program and print the most memory that it and what it waited
// for took, in KiB. A process counts the memory of the one that starts it as its own, and that of a test has no bound.
const peakRole = "NEUROLENS_TEST_PEAK"

// printPeak returns the test binary in that role: it passes an interrupt on, and gives the exit code of the program.
func printPeak(args []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), peakRole+"=", programtest.RoleVariable+"=1")
	cmd.Stderr = os.Stderr
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitOther
	}
	go func() {
		for s := range interrupts {
			_ = cmd.Process.Signal(s)
		}
	}()
	_ = cmd.Wait() // its exit code is passed on
	usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	fmt.Println(usage.Maxrss)
	return cmd.ProcessState.ExitCode()
}

// TestLargeOutputs: however much a program writes, a metric in it has the right value, or the run has a status and one line, and
// the program takes no more memory than for a small output.
func TestLargeOutputs(t *testing.T) {
	t.Parallel()
	const most = 200 << 10 // KiB; 90,000 are those of the smallest sweep
	for _, c := range []struct {
		name, command, from, rule, validate string
		want                                string
	}{
		{"file", "truncate -s 1G out", "out", "regex: 'x (.*)'", "10m", "error,validate,metric,metric m: out: more than 67108864 B,"},
		{"results", "truncate -s 1G out", "out", "read: go-bench", "10m", "error,validate,metric,metric m: out: more than 67108864 B,"},
		{"stdout", "head -c 1000000000 /dev/zero", "stdout", "regex: 'x (.*)'", "10m", "output_limit,measure,output_limit,more than the limit of 67108864 B; --output null (in a sweep file output: {to: null}) discards standard output,"},
		{"stderr", "head -c 1000000000 /dev/zero >&2", "stderr", "jq: .x", "10m", "output_limit,measure,output_limit,more than the limit of 67108864 B,"},
		{"lines", "yes 'epoch 12345 of 99999, loss 0.25, x 1' | head -c 60000000; echo x 1e-3", "stdout", "regex: 'x (.*)', take: last", "10m", "ok,,,,0.001"},
		{"one line", "head -c 60000000 /dev/zero", "stdout", "regex: 'x (.*)'", "10m", "error,validate,metric,metric m: stdout: a line has more than 16 MiB,"},
		{"slow", "head -c 4000000 /dev/zero | tr '\\0' a", "stdout", "regex: '(?:a*b?a*c?a*){60}z'", "300ms", "error,validate,metric,metric m: reading it took more than 300ms; raise timeouts.validate,"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "file" {
				programtest.NeedsLong(t)
			}
			dir := t.TempDir()
			programtest.WriteFile(t, dir, "s.yaml", fmt.Sprintf("command: [sh, -c, %q]\nrepeats: 1\niterations: 1\nwarmup: 0\ntimeouts: {validate: %s}\nmetrics: {m: {from: %s, %s}}\n", c.command, c.validate, c.from, c.rule))
			if peak := peakOf(t, dir, "bench", "s.yaml"); peak > most {
				t.Errorf("it took %d KiB, want at most %d", peak, most)
			}
			got := programtest.Output(t, dir, "query", "--format", "csv", `select status, stage, error_kind, regexp_replace(error, '^.*wrote [0-9]+ B, ', '') as error,
				(select reals[1] from samples s where s.run_id = r.run_id and metric = 'm') as m from runs r where env['runner.read'] is null`)
			if _, got, _ = strings.Cut(got, "\n"); got != c.want+"\n" {
				t.Errorf("got %swant %s", got, c.want)
			}
		})
	}
}

// peakOf runs the program in a directory, and tells its peak of memory in KiB.
func peakOf(t *testing.T, dir string, args ...string) (peak int) {
	t.Helper()
	self := programtest.Binary(t)
	cmd := exec.Command(self, append([]string{self}, args...)...)
	cmd.Dir, cmd.Env = dir, append(programtest.Environ(t), peakRole+"=1")
	out, _ := cmd.Output()
	valuetest.OK(t, valuetest.Error(fmt.Sscan(string(out), &peak)), out)
	return peak
}

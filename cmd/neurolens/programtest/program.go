// Package programtest runs the program in tests, and makes what they give to it: repositories, stores, terminals, hostile texts. The tests of
// the command and those of e2e share it.
package programtest

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

const (
	// BinaryVariable names the file of the program that tests run. Where it is not set, that is the test binary itself.
	BinaryVariable = "NEUROLENS_TEST_BINARY"
	// RoleVariable makes the test binary of package main the program.
	RoleVariable = "NEUROLENS_TEST_PROGRAM"
	// LocksVariable says where the locks of devices are.
	LocksVariable = "NEUROLENS_LOCKS"
)

// Binary returns the file of the program. Environ has it be the program.
func Binary(t testing.TB) string {
	t.Helper()
	self := valuetest.Must(os.Executable())
	return cmp.Or(os.Getenv(BinaryVariable), self)
}

// Environ returns the environment of the program, with locks of its own, because tests run side by side.
func Environ(t testing.TB) []string {
	return append(os.Environ(), RoleVariable+"=1", LocksVariable+"="+t.TempDir(), "NEUROLENS_PAGER=")
}

// Process is a call of the program.
type Process struct {
	*exec.Cmd
	Printed, Messages strings.Builder // standard output and standard error
}

// Program prepares a call of the program in a directory.
func Program(t testing.TB, dir string, args ...string) *Process {
	t.Helper()
	p := &Process{Cmd: exec.Command(Binary(t), args...)}
	p.Args[0], p.Dir, p.Env = "neurolens", dir, Environ(t)
	p.Stdout, p.Stderr = &p.Printed, &p.Messages
	return p
}

// MustRun runs the program to its end and fails the test if its exit status is not 0.
func (p *Process) MustRun(t testing.TB) {
	t.Helper()
	if err := p.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(p.Args[1:], " "), err, p.Printed.String(), p.Messages.String())
	}
}

// Output runs the program in a directory and returns its standard output. It fails the test if the exit status is not 0.
func Output(t testing.TB, dir string, args ...string) string {
	t.Helper()
	p := Program(t, dir, args...)
	p.MustRun(t)
	return p.Printed.String()
}

// Link makes the file neurolens of a directory the program. A process with Environ and this directory on its PATH can call it by its name.
func Link(t testing.TB, dir string) {
	t.Helper()
	valuetest.OK(t, os.Symlink(Binary(t), filepath.Join(dir, "neurolens")))
}

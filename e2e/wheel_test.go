//go:build linux

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// wheelModules are what the wheel is built and tested with.
const wheelModules = "hatchling, auditwheel, pip, pytest, pytest_benchmark, pyarrow, pandas, polars, numpy"

// foldersOfModules is a program that prints the folders of modules, one per line: a virtual environment may have some of them, and the
// Python that it was made with the others.
const foldersOfModules = `import importlib, os, sys
modules = map(importlib.import_module, sys.argv[1].split(", "))
print(*sorted({os.path.dirname(os.path.dirname(module.__file__)) for module in modules}), sep="\n")
`

// launcherSource is a program that becomes this test binary: it stands for the program, and is compressed in no time.
const launcherSource = `#include <unistd.h>
int main(int count, char **arguments) { return execv(PROGRAM, arguments); }
`

// TestWheel builds a wheel, installs it into an empty environment without a network, and runs the tests of the package there.
func TestWheel(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	python := programtest.PythonWith(t, "wheel", wheelModules)
	_, err := exec.LookPath("gcc")
	programtest.Needs(t, "gcc", err)
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "launcher.c", launcherSource)
	launcher := filepath.Join(dir, "launcher")
	valuetest.Must(exec.Command("gcc", "-o", launcher, fmt.Sprintf("-DPROGRAM=%q", programtest.Binary(t)), filepath.Join(dir, "launcher.c")).Output())
	venv := installWheel(t, python, buildWheel(t, python, launcher))

	cmd := inVenv(t, venv, "-c", "import neurolens; neurolens.query('SELECT 1')")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "pip install 'neurolens[arrow]'") {
		t.Errorf("without other packages: %v\n%s", err, out)
	}

	packages := valuetest.Must(filepath.Glob(filepath.Join(venv, "lib", "python3*", "site-packages")))
	programtest.WriteFile(t, packages[0], "packages-of-the-tests.pth", string(valuetest.Must(exec.Command(python, "-c", foldersOfModules, wheelModules).Output())))
	args := []string{"-m", "pytest", "-q", "-p", "no:cacheprovider", valuetest.Must(filepath.Abs(filepath.Join("..", "python", "tests")))}
	cmd = inVenv(t, venv, args...)
	cmd.Env = append(cmd.Env, "NEUROLENS_TEST_STORE="+filepath.Join(programtest.SealedStore(t), "runs_store"),
		"NEUROLENS_TEST_PAGE="+valuetest.Must(filepath.Abs(filepath.Join("..", "docs", "python-package.md"))))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestWheelOfProgram builds the wheel of a whole program: what is installed is that program, byte by byte, and the tag of the wheel
// promises no older glibc than the program needs.
func TestWheelOfProgram(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	python := programtest.PythonWith(t, "wheel", wheelModules)
	self := programtest.Binary(t)
	wheel := buildWheel(t, python, self)
	venv := installWheel(t, python, wheel)
	if !bytes.Equal(valuetest.Must(os.ReadFile(filepath.Join(venv, "bin", "neurolens"))), valuetest.Must(os.ReadFile(self))) {
		t.Error("the program in the environment is another one")
	}
	if out := valuetest.Must(inVenv(t, venv, "-m", "neurolens", "version", "--format", "csv").Output()); !strings.Contains(string(out), version(t)) {
		t.Errorf("version says %s", out)
	}
	var minor int
	valuetest.OK(t, valuetest.Error(fmt.Sscanf(filepath.Base(wheel), "neurolens-"+version(t)+"-py3-none-manylinux_2_%d_", &minor)), wheel)
	needed := regexp.MustCompile(`\x00GLIBC_2\.([0-9]+)\x00`).FindAllSubmatch(valuetest.Must(os.ReadFile(self)), -1)
	for _, symbol := range needed {
		if of := valuetest.Must(strconv.Atoi(string(symbol[1]))); of > minor {
			t.Errorf("%s needs glibc 2.%d", wheel, of)
		}
	}
	if len(needed) == 0 {
		t.Error("the program needs no symbol of glibc")
	}
}

// TestWheelOfClone: the folder python of a clone, which has no program, says how a wheel is made.
func TestWheelOfClone(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	cmd := exec.Command(programtest.PythonWith(t, "wheel", wheelModules), "-m", "hatchling", "version")
	cmd.Dir, cmd.Env = filepath.Join("..", "python"), append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "this folder has no program to install; in a clone, `go build -o neurolens ./cmd/neurolens && python3 python/build_wheel.py neurolens`") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestWheelTools: the tools that build the wheel have the same versions wherever they are named.
func TestWheelTools(t *testing.T) {
	requires := regexp.MustCompile(`(?m)^requires = \[(.*)\]$`).FindStringSubmatch(programtest.RepositoryFile(t, "python/pyproject.toml"))
	if requires == nil {
		t.Fatal("pyproject.toml names no tools")
	}
	for tool := range strings.SplitSeq(requires[1], ", ") {
		for _, file := range []string{".ci/run", "docs/python-package.md"} {
			if name := strings.Trim(tool, `"`); !slices.Contains(strings.Fields(programtest.RepositoryFile(t, file)), name) {
				t.Errorf("%s does not have %s", file, name)
			}
		}
	}
}

// buildWheel builds the wheel of a program, with a folder of licences.
func buildWheel(t *testing.T, python, program string) string {
	t.Helper()
	dir := t.TempDir()
	valuetest.OK(t, os.MkdirAll(filepath.Join(dir, "licenses", "third"), 0o700))
	programtest.WriteFile(t, filepath.Join(dir, "licenses", "third"), "LICENSE", "a licence\n")
	cmd := exec.Command(python, filepath.Join("..", "python", "build_wheel.py"), program, "--licenses", filepath.Join(dir, "licenses"), "--out", dir)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	if out, err := withoutNetwork(cmd).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	wheels := valuetest.Must(filepath.Glob(filepath.Join(dir, "neurolens-"+version(t)+"-py3-none-*.whl")))
	if len(wheels) != 1 {
		t.Fatalf("%d wheels of version %s", len(wheels), version(t))
	}
	return wheels[0]
}

// installWheel makes an empty virtual environment and installs a wheel there.
func installWheel(t *testing.T, python, wheel string) (venv string) {
	t.Helper()
	venv = filepath.Join(t.TempDir(), "venv")
	for _, args := range [][]string{
		{"-m", "venv", "--without-pip", venv},
		{"-m", "pip", "--disable-pip-version-check", "--python", venv, "install", "--no-index", "--no-deps", "--no-compile", wheel},
	} {
		if out, err := withoutNetwork(exec.Command(python, args...)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	return venv
}

// inVenv returns a call of the Python of a virtual environment.
func inVenv(t *testing.T, venv string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(filepath.Join(venv, "bin", "python"), args...)
	cmd.Dir, cmd.Env = t.TempDir(), append(programtest.Environ(t), "PYTHONDONTWRITEBYTECODE=1", "NEUROLENS_STORE=")
	return cmd
}

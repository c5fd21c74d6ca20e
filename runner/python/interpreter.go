// Package python contains the worker that measures in the user's own Python interpreter. It finds that interpreter, and tells
// package task how to start the worker in it.
//
// The worker is plain Python (3.8 or later). It is embedded in this program and written into the directory of each run, so that
// nothing has to be installed. It measures Python files of users (benchmark.py) and models (backends.py). PROTOCOL.md in the
// parent directory describes how it communicates with the runner.
//
// Nothing is guessed: an interpreter reports its own version, and one that does not answer is an error of one line.
package python

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// resolveWait is the time limit for the answer of an interpreter.
	resolveWait = 30 * time.Second
	// closeWait is the time for which its output is read after it has ended: its children may keep it open.
	closeWait = time.Second
	// oldest is the minor version of Python 3 that the worker needs.
	oldest = 8
)

// Interpreter is a Python interpreter that answered.
type Interpreter struct {
	Path           string // its own sys.executable: the interpreter behind a shim, but the link in a virtual environment
	Version        string // 3.11.7
	Implementation string // cpython
	// Packages are the versions of the frameworks it has, by module; packages.py has the list.
	Packages map[string]string
}

// Resolve finds the interpreter with a name (a path, or a program on PATH). If name is empty, it finds the interpreter of the active
// virtual environment or conda environment, else python3, else python. environ has the variables (KEY=VALUE) for the search and for
// running it. The interpreter is run once, without importing any framework.
func Resolve(ctx context.Context, name string, environ []string) (Interpreter, error) {
	path, err := find(name, environ)
	if err != nil {
		return Interpreter{}, err
	}
	i, err := query(ctx, path, environ)
	if err != nil {
		return Interpreter{}, fmt.Errorf("python %s: %w", path, err)
	}
	return i, nil
}

// ModuleVersion returns the version of a module of the interpreter that Resolve finds, as recorded by its installer; empty if there is no
// such interpreter or module. Nothing is imported.
func ModuleVersion(ctx context.Context, name, module string, environ []string) string {
	path, err := find(name, environ)
	if err != nil {
		return ""
	}
	i, err := query(ctx, path, environ, module)
	if err != nil {
		return ""
	}
	return i.Packages[module]
}

// find returns the path of the program that Resolve is to run.
func find(name string, environ []string) (string, error) {
	if name != "" {
		path, err := lookUp(name, environ)
		if err != nil {
			return "", fmt.Errorf("python %s: %w", name, err)
		}
		return path, nil
	}
	for _, key := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if prefix := variable(environ, key); prefix != "" {
			path := filepath.Join(prefix, "bin", "python")
			if err := executable(path); err != nil {
				return "", fmt.Errorf("python of %s %s: %w", key, prefix, err)
			}
			return path, nil
		}
	}
	for _, program := range []string{"python3", "python"} {
		if path, err := lookUp(program, environ); err == nil {
			return path, nil
		}
	}
	return "", errors.New("python: neither python3 nor python is on PATH, and no virtual environment is active")
}

// lookUp finds a program as a shell with these variables would.
func lookUp(name string, environ []string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		return name, executable(name)
	}
	for _, dir := range filepath.SplitList(variable(environ, "PATH")) {
		if path := filepath.Join(dir, name); filepath.IsAbs(path) && executable(path) == nil {
			return path, nil
		}
	}
	return "", errors.New("not on PATH")
}

// executable reports why a file cannot be run.
func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return errors.New("no such file")
	case err != nil:
		return reason(err)
	case info.IsDir():
		return errors.New("is a directory")
	case info.Mode()&0o111 == 0:
		return errors.New("not executable")
	}
	return nil
}

// reason returns an error without the path that the caller names anyway.
func reason(err error) error {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err
	}
	return err
}

// variable returns the value of a variable; the last one counts, as it does for a program that is started.
func variable(environ []string, key string) (value string) {
	for _, v := range environ {
		if k, text, ok := strings.Cut(v, "="); ok && k == key {
			value = text
		}
	}
	return value
}

// question is the beginning of each query to an interpreter. -c puts the current directory first on the module path, and an enum.py
// there must not replace the module of Python.
const question = "import sys;sys.path[:1]=[p for p in sys.path[:1]if p]"

// echoes reports that a program printed the query, or took it for the name of a file.
func echoes(output []byte) bool { return bytes.Contains(output, []byte(question)) }

// query runs the program and reads its description of itself, and of modules in addition to the frameworks.
func query(ctx context.Context, path string, environ []string, modules ...string) (Interpreter, error) {
	source, err := sources.ReadFile("packages.py")
	if err != nil {
		return Interpreter{}, err
	}
	asked, cancel := context.WithTimeout(ctx, resolveWait)
	defer cancel()
	cmd := exec.CommandContext(asked, path, append([]string{"-c", question + "\n" + string(source)}, modules...)...)
	cmd.Env, cmd.WaitDelay = environ, closeWait
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a shim may wait for a child, which would survive it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return Interpreter{}, ctx.Err()
	case asked.Err() != nil:
		return Interpreter{}, fmt.Errorf("did not answer within %v", resolveWait)
	case errors.Is(err, exec.ErrWaitDelay): // it answered, and left a process that holds its output
		_ = cmd.Cancel()
	case err != nil:
		return Interpreter{}, refusal(err, stderr.Bytes())
	}
	if echoes(stdout.Bytes()) {
		return Interpreter{}, errors.New("is not Python: it repeats its input")
	}
	return understand(stdout.Bytes())
}

// refusal returns the reason why a program did not answer: the end of its output, if there is any.
func refusal(err error, stderr []byte) error {
	if _, ok := errors.AsType[*exec.ExitError](err); !ok {
		return reason(err)
	}
	words := strings.TrimSpace(string(stderr))
	if words == "" || echoes(stderr) {
		return fmt.Errorf("is it Python? It ended with %w", err)
	}
	words = words[strings.LastIndexByte(words, '\n')+1:]
	return fmt.Errorf("is it Python? It ended with %w: %.200s", err, words)
}

// understand reads the line that packages.py prints. A sitecustomize may have printed other lines before it.
func understand(output []byte) (Interpreter, error) {
	text := bytes.TrimSpace(output)
	line := text[bytes.LastIndexByte(text, '\n')+1:]
	var reply struct {
		Path           string            `json:"path"`
		Version        string            `json:"version"`
		Implementation string            `json:"implementation"`
		Packages       map[string]string `json:"packages"`
	}
	if err := json.Unmarshal(line, &reply); err != nil || reply.Path == "" || reply.Version == "" {
		return Interpreter{}, fmt.Errorf("is not Python: asked for its version, it printed %.80q", line)
	}
	if err := checkVersion(reply.Version); err != nil {
		return Interpreter{}, err
	}
	return Interpreter(reply), nil
}

// checkVersion refuses a Python that cannot run the worker.
func checkVersion(version string) error {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	x, errX := strconv.Atoi(major)
	y, errY := strconv.Atoi(minor)
	if errX != nil || errY != nil {
		return fmt.Errorf("is not Python: it gives its version as %.80q", version)
	}
	if x < 3 || x == 3 && y < oldest {
		return fmt.Errorf("is Python %s: want 3.%d or later", version, oldest)
	}
	return nil
}

// Converter is a tool in an interpreter that converts ONNX files to another precision.
type Converter struct {
	python  string
	tool    string // its module, in a form that packages.py accepts
	version string // of the tool and of everything else that determines its output
	to      string // the precision
}

// converterFile is the program that uses the tools.
const converterFile = "convert.py"

// converters are the modules that can convert from fp32, the preferred first. All of them need the package onnx. onnxruntime comes
// first, because it also measures.
var converters = map[string][]string{
	"fp16": {"onnxruntime", "onnxconverter_common"},
	"int8": {"onnxruntime"},
}

// Converter finds the tool for a conversion in this interpreter. If it has none, install is the command that installs one. It is an
// error if no tool is known for the conversion.
func (i Interpreter) Converter(from, to string) (tool Converter, install string, err error) {
	tools := converters[to]
	if from != "fp32" || len(tools) == 0 {
		return Converter{}, "", fmt.Errorf("no tool is known to convert %s to %s", from, to)
	}
	at := slices.IndexFunc(tools, func(tool string) bool { return i.Packages[tool] != "" })
	if at < 0 || i.Packages["onnx"] == "" {
		missing := []string{"onnx"}
		if at < 0 {
			missing = append(missing, tools[0])
		}
		return Converter{}, i.Path + " -m pip install " + strings.Join(missing, " "), nil
	}
	module := tools[at]
	version := fmt.Sprintf("%s %s, onnx %s", strings.ReplaceAll(module, "_", "-"), i.Packages[module], i.Packages["onnx"])
	return Converter{python: i.Path, tool: module, version: version, to: to}, "", nil
}

// String names the tool with all versions that affect its output.
func (c Converter) String() string { return c.version }

// Command returns the command that converts the file from and writes the file to.
func (c Converter) Command(from, to string) ([]string, error) {
	source, err := sources.ReadFile(converterFile)
	if err != nil {
		return nil, fmt.Errorf("reading the converter: %w", err)
	}
	return []string{c.python, "-c", question + "\n" + string(source), c.tool, c.to, from, to}, nil
}

// Need is something that a point needs from an interpreter: a module, or an object in a file.
type Need struct {
	Module  string `json:"module,omitempty"`
	Package string `json:"package,omitempty"` // that brings Module
	File    string `json:"file,omitempty"`    // relative to the working directory; it exists
	Object  string `json:"object,omitempty"`  // of File; empty: the only one that fits
}

// checker is the file of the program that checks for missing modules.
const checker = "check.py"

// frameworks are the modules of the backends, and the packages that provide them.
var frameworks = map[string]Need{
	"onnxrt":   {Module: "onnxruntime", Package: "onnxruntime"},
	"torch":    {Module: "torch", Package: "torch"},
	"tensorrt": {Module: "tensorrt", Package: "tensorrt"},
}

// Need returns the requirements of a worker with these settings.
func (s Settings) Need() Need {
	if s.File != "" {
		return Need{File: s.File, Object: s.Object}
	}
	return frameworks[s.Backend]
}

// Missing returns for each need the missing modules, in one line; empty: none, as far as can be determined without running code of the
// user. dir and environ are those of the runs; dir may be empty.
func (i Interpreter) Missing(ctx context.Context, dir string, environ []string, needs []Need) ([]string, error) {
	source, err := sources.ReadFile(checker)
	if err != nil {
		return nil, fmt.Errorf("listing the modules of %s: %w", i.Path, err)
	}
	question, err := json.Marshal(needs)
	if err != nil {
		return nil, fmt.Errorf("listing the modules of %s: %w", i.Path, err)
	}
	asked, cancel := context.WithTimeout(ctx, resolveWait)
	defer cancel()
	const first = "import sys;sys.path[:1]=[p for p in sys.path[:1]if p]\n"
	cmd := exec.CommandContext(asked, i.Path, "-c", first+string(source))
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, environ, closeWait
	cmd.Stdin = bytes.NewReader(question)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the modules of %s: %w", i.Path, err)
	}
	var missing []*string
	line := output[bytes.LastIndexByte(output, '\n')+1:] // a sitecustomize may have printed other lines before
	if err := json.Unmarshal(line, &missing); err != nil || len(missing) != len(needs) {
		return nil, fmt.Errorf("listing the modules of %s: it printed %.80q", i.Path, line)
	}
	texts := make([]string, len(missing))
	for n, text := range missing {
		if text != nil {
			texts[n] = *text
		}
	}
	return texts, nil
}

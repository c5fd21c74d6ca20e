package python

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"syscall"
)

// Need is something that a point needs from an interpreter: a module, or an object in a file.
type Need struct {
	Module  string `json:"module,omitempty"`
	Package string `json:"package,omitempty"` // that brings Module
	File    string `json:"file,omitempty"`    // relative to the working directory; it is there
	Object  string `json:"object,omitempty"`  // of File; empty: the only one that fits
}

// checker is the file of the program that looks for what is missing.
const checker = "check.py"

// frameworks are the modules of the backends, and the packages that bring them.
var frameworks = map[string]Need{
	"onnxrt":   {Module: "onnxruntime", Package: "onnxruntime"},
	"torch":    {Module: "torch", Package: "torch"},
	"tensorrt": {Module: "tensorrt", Package: "tensorrt"},
}

// Need is what a worker with these settings needs.
func (s Settings) Need() Need {
	if s.File != "" {
		return Need{File: s.File, Object: s.Object}
	}
	return frameworks[s.Backend]
}

// Missing returns for each need what is missing, in one line; empty: nothing, as far as can be seen without running code of the user. dir
// and environ are those of the runs; dir may be empty.
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
	line := output[bytes.LastIndexByte(output, '\n')+1:] // below what a sitecustomize has printed
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

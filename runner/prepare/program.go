package prepare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/runner/builtin"
	"github.com/neurolens/neurolens/runner/onnx"
	"github.com/neurolens/neurolens/runner/python"
	"github.com/neurolens/neurolens/runner/shellwords"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// maxCommandFiles is the maximum number of words of a command that are checked for files.
const maxCommandFiles = 20

// prepareCommand finds the program in the PATH of the point, and hashes it and the files that the command names. Files that cannot be
// found are left to the launch.
func (h *Targets) prepareCommand(t *Target, side Side) {
	path, err := task.LookPath(t.Point.Command[0], slices.Concat(os.Environ(), t.Spec.Env))
	absent := errors.Is(err, exec.ErrNotFound) || err == nil && infoOf(task.InDir(t.Spec.Dir, path)) == nil
	if absent && t.Point.Optional {
		t.refuse(schema.StatusSkipped, kindAbsent, t.at(t.Point.CommandLine), t.checkProgram(t.Spec.Command[0]))
	}
	if err != nil {
		return
	}
	path = task.InDir(t.Spec.Dir, path)
	if owner := side.foreign(path); owner != "" {
		t.refuse(schema.StatusUnsupported, kindForeign, location{}, h.foreignProgram(path, owner))
	}
	if text, err := h.sha256(path); err == nil {
		t.Facts[factCommand] = text
	}
	files := t.Point.Command[1:min(len(t.Point.Command), maxCommandFiles)]
	if t.Point.Stdin != "" {
		files = append(slices.Clone(files), t.Point.Stdin)
	}
	for _, word := range files {
		path := task.InDir(t.Spec.Dir, word)
		if info := infoOf(path); info == nil || !info.Mode().IsRegular() || h.outputs[path] {
			continue
		}
		if text, err := h.sha256(path); err == nil {
			t.Facts[FactCommandFile+shellwords.ToUTF8(word)] = text
		}
	}
}

// NoteOutputs finds words of a command that name its output: files that its first launch in a session has changed. They are not part of
// the code.
func (h *Targets) NoteOutputs(t *Target) {
	if t.launched {
		return
	}
	t.launched = true
	for fact := range t.Facts {
		word, ok := strings.CutPrefix(fact, FactCommandFile)
		path := task.InDir(t.Spec.Dir, shellwords.FromUTF8(word))
		if ok && !sameFile(h.hashes[path].file, infoOf(path)) {
			delete(t.Facts, fact)
			delete(h.hashes, path)
			h.outputs[path] = true
		}
	}
}

// preparePython finds the interpreter, and the file or model to run.
func (h *Targets) preparePython(ctx context.Context, t *Target, side Side) {
	p := t.Point
	var err error
	if t.Python, err = h.interpreter(ctx, p.Python); err != nil {
		t.refuse(schema.StatusError, "python", t.at(p.PythonLine), err)
	}
	for name, version := range t.Python.Packages {
		t.Facts[FactInstalled+name] = version
	}
	if p.File != "" {
		t.hash(h, factBenchmark, p.File, t.at(p.FileLine))
	}
	if p.Executor != schema.ExecutorPython {
		h.prepareModel(t, t.at(p.ModelLine))
		h.prepareInputs(t, t.at(p.ModelLine))
	}
	t.settings = settingsOf(p)
	t.settings.Foreign, t.settings.Exempt, t.settings.Described = side.Others, side.Exempt, t.described
	if t.model != nil {
		t.settings.ModelFile = modelFile
	}
	if t.Refused != nil {
		return
	}
	made, err := t.program(t.settings)
	if err != nil {
		t.refuse(schema.StatusError, "python", location{}, err)
		return
	}
	t.Spec.Program, t.Spec.Env = made.Program, append(made.Env, t.Spec.Env...)
}

// program returns the worker's part of a Spec, with the generated model among its files.
func (t *Target) program(settings python.Settings) (task.Spec, error) {
	made, err := t.Python.Spec(settings)
	if err == nil && t.model != nil {
		made.Program.Files[modelFile] = t.model
	}
	return made, err
}

// hash stores the hash of a file, which must exist.
func (t *Target) hash(h *Targets, fact, path string, at location) {
	text, err := h.sha256(task.InDir(t.Spec.Dir, path))
	if err != nil {
		kind, _, _ := strings.Cut(fact, ".")
		t.refuseFile(kind, at, path, err)
		return
	}
	t.Facts[fact] = text
}

// prepareModel hashes the model's file, or makes the model.
func (h *Targets) prepareModel(t *Target, at location) {
	p := t.Point
	if p.ModelPath != "" {
		path := task.InDir(t.Spec.Dir, p.ModelPath)
		text, err := h.sha256(path)
		if err != nil {
			t.refuseFile("model", at, "model "+p.ModelPath, err)
			return
		}
		t.ModelSHA256 = text
		if p.Executor != schema.ExecutorTorch {
			d := h.describe(path, text)
			t.noteDescription(d)
			h.addExternal(t, d, at)
			h.choosePrecision(t, d, at)
		}
		return
	}
	name, ok := strings.CutPrefix(p.Model, builtin.ModelPrefix)
	if !ok || p.Executor == schema.ExecutorTorch {
		return
	}
	precision := p.Precision
	if precision == "" {
		precision = "fp32"
	}
	model, err := onnx.Generate(name, precision)
	if err != nil && !slices.Contains(onnx.Names(), name) {
		t.refuse(schema.StatusError, "model", at, fmt.Errorf("model %s: %w", p.Model, err))
		return
	}
	if err != nil {
		t.refuse(schema.StatusUnsupported, "precision", at, err)
		return
	}
	t.useGenerated(model)
	t.ModelSHA256 = hashOf(model)
}

// settingsOf returns the settings of a point for a Python worker.
func settingsOf(p *sweep.Point) python.Settings {
	settings := python.Settings{
		File: p.File, Object: p.Object, Worker: p.Worker, Used: p.Used, Fixed: p.Fixed, Passes: p.Profile,
	}
	if p.Compared {
		settings.Output = &python.Output{}
		if p.Seed != nil {
			settings.Output.Seed = *p.Seed
		}
	}
	if p.Executor == schema.ExecutorPython {
		settings.Spellings, settings.Texts = p.Spellings(), p.WrittenTexts()
		settings.Values = map[string]json.RawMessage{}
		for axis, value := range p.Values {
			settings.Values[axis] = json.RawMessage(value)
		}
	} else {
		settings.Backend, settings.Model = string(p.Executor), p.ModelPath
		if p.ModelPath == "" {
			settings.Model = p.Model
		}
	}
	return settings
}

package prepare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/runner/onnx"
	"github.com/neurolens/neurolens/runner/python"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// models is the folder of converted models in the user's cache, which sessions share. A file name consists of conversion.key and the
// SHA-256 of the file, so that a file of another session, or after a crash, is known to be complete before it is used. The folder may be
// removed at any time.
type models struct{ dir string }

// forgotten is the age from which a draft of a killed session is removed.
const forgotten = 24 * time.Hour

// draftPrefix begins the names of files that are being written.
const draftPrefix = ".draft-"

// openModels makes the folder, and removes what killed sessions have left in it.
func openModels() (models, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return models{}, fmt.Errorf("finding a folder for it: %w", err)
	}
	m := models{filepath.Join(cache, "neurolens", "models")}
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return models{}, fmt.Errorf("making a folder for it: %w; XDG_CACHE_HOME sets another", err)
	}
	drafts, _ := filepath.Glob(filepath.Join(m.dir, draftPrefix+"*"))
	for _, draft := range drafts {
		if info := infoOf(draft); info != nil && time.Since(info.ModTime()) > forgotten {
			_ = os.Remove(draft)
		}
	}
	return m, nil
}

// find returns a file by its key, with its hash; empty: there is none. A file whose content does not match its name is removed.
func (m models) find(key string) (path, hash string) {
	paths, _ := filepath.Glob(filepath.Join(m.dir, key+".*.onnx"))
	for _, path := range slices.Sorted(slices.Values(paths)) {
		named := strings.Split(filepath.Base(path), ".")[1]
		if hash, err := hashFile(path); err == nil && hash == named {
			return path, hash
		}
		_ = os.Remove(path)
	}
	return "", ""
}

// draft makes an empty file for a converter to write.
func (m models) draft() (path string, err error) {
	file, err := os.CreateTemp(m.dir, draftPrefix+"*.onnx")
	if err != nil {
		return "", fmt.Errorf("making a file for it: %w", err)
	}
	return file.Name(), file.Close()
}

// keep renames a draft once it is on the disk.
func (m models) keep(draft, key string) (path, hash string, err error) {
	file, err := os.Open(draft)
	if err != nil {
		return "", "", fmt.Errorf("keeping what it wrote: %w", err)
	}
	if d, described := onnx.Describe(file); described != nil || d.Precision == "" {
		err = errors.New("its precision is not known")
	} else {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		hash, err = hashFile(draft)
	}
	if err != nil {
		return "", "", fmt.Errorf("keeping what it wrote: %w", err)
	}
	path = filepath.Join(m.dir, key+"."+hash+".onnx")
	if err := os.Rename(draft, path); err != nil {
		return "", "", fmt.Errorf("keeping what it wrote: %w", err)
	}
	return path, hash, nil
}

// kindConvert is the kind of error of a run whose model could not be converted.
const kindConvert = "convert"

// Facts of a run, besides the settings that its worker applied, if it used another file than the model in the sweep.
const (
	appliedHash = "converted.sha256" // of the file that was run
	appliedTool = "converted.by"     // the tool, with its version
	appliedFrom = "converted.from"   // the precision of the model
)

// conversion is a model that must run in another precision than its file has.
type conversion struct {
	source   string // path of the file, as this process sees it
	hash     string // its SHA-256
	from, to string
	tool     python.Converter
}

// key returns the same for conversions with the same result.
func (c conversion) key() string {
	return hashOf([]byte(JSONList([]string{c.hash, c.tool.String(), c.to})))
}

// converted is the file that runs instead of a model.
type converted struct {
	path         string // empty where the runner has made it
	hash         string
	from, tool   string
	took         int64 // ns; 0 if the file existed
	refused      *task.Outcome
	refusedError error
}

// choosePrecision decides which file runs if the model has another precision than the point. A model that Generate can produce is
// generated in the other precision: it is the same model on every machine, and needs no tool. Other models wait for Convert. If the
// precision of a file is not known, the worker checks it.
func (h *Targets) choosePrecision(t *Target, d onnx.Description, at location) {
	p, to := t.Point, t.Point.Precision
	if to == "tf32" { // a way to compute with the numbers of fp32
		to = "fp32"
	}
	if to == "" {
		return
	}
	unsupported := func(from, why string) {
		t.refuse(schema.StatusUnsupported, "not_applied", at, fmt.Errorf("precision %s was requested, but %s is %s%s", p.Precision, p.ModelPath, from, why))
	}
	if name, from, ok := onnx.Generated(t.ModelSHA256); ok {
		if from == to {
			return
		}
		content, err := onnx.Generate(name, to)
		if err != nil {
			unsupported(from, fmt.Sprintf("; `neurolens model gen %s --precision` makes %s alone", name, strings.Join(onnx.Precisions(), " ")))
			return
		}
		t.useGenerated(content)
		t.converted = &converted{hash: hashOf(content), from: from, tool: "neurolens model gen " + h.Version}
		return
	}
	if d.Precision == "" || d.Precision == to {
		return
	}
	if len(d.External) > 0 {
		unsupported(d.Precision, ", and it cannot be converted because its weights are in other files: "+ownFile)
		return
	}
	tool, install, err := t.Python.Converter(d.Precision, to)
	if install != "" {
		unsupported(d.Precision, fmt.Sprintf(": to convert it, run `%s`", install))
		return
	}
	if err != nil {
		unsupported(d.Precision, fmt.Sprintf(", and %v: %s", err, ownFile))
		return
	}
	t.pending = &conversion{source: task.InDir(t.Spec.Dir, p.ModelPath), hash: t.ModelSHA256, from: d.Precision, to: to, tool: tool}
}

// ownFile is the advice if a model cannot be converted.
const ownFile = "use one file for each precision, such as with `bench --set 'model=model_{precision}.onnx'`"

// Convert creates the converted file for the model of a subject, if it is needed and does not exist, once for all points that use it. A
// subject whose converter fails is refused. It is an error if a converter could not be run at all.
func (h *Targets) Convert(ctx context.Context, b Builder, sub Subject, t *Target) error {
	c := t.pending
	if c == nil || t.Refused != nil {
		return nil
	}
	key := c.key()
	done, known := h.conversions[key]
	if known && done.refused == nil {
		hash, err := h.sha256(done.path) // it may be gone, or another one, since
		known = err == nil && hash == done.hash
	}
	if !known {
		made, err := h.convert(ctx, b, sub, *c)
		if err != nil || ctx.Err() != nil {
			return err
		}
		done = made
		h.conversions[key] = done
	}
	t.pending = nil
	if done.refused != nil {
		t.refuse(done.refused.Status, done.refused.ErrorKind, t.at(t.Point.ModelLine), done.refusedError)
		return nil
	}
	t.noteDescription(h.describe(done.path, done.hash))
	t.useConverted(done)
	return nil
}

// useConverted makes the worker load a converted file.
func (t *Target) useConverted(done converted) {
	t.converted, t.settings.ModelFile, t.settings.Described = &done, done.path, t.described
	if made, err := t.program(t.settings); err == nil { // it was made once already
		t.Spec.Program = made.Program
	}
	if done.took > 0 {
		took := done.took
		if t.Built != nil {
			took += *t.Built
		}
		t.Built = &took
	}
}

// convert finds a converted file in the cache, or makes it.
func (h *Targets) convert(ctx context.Context, b Builder, sub Subject, c conversion) (converted, error) {
	done := converted{from: c.from, tool: c.tool.String()}
	cache, err := openModels()
	if err != nil {
		return done.refuse(sub, c, schema.StatusError, err), nil
	}
	if done.path, done.hash = cache.find(c.key()); done.path == "" {
		if done, err = h.make(ctx, b, sub, c, cache); err != nil || done.refused != nil {
			return done, err
		}
	}
	if is := h.describe(done.path, done.hash).Precision; is != c.to {
		return done.refuse(sub, c, schema.StatusUnsupported, fmt.Errorf("%s left it in %s: %s", done.tool, is, ownFile)), nil
	}
	delete(h.hashes, done.path)
	_, err = h.sha256(done.path) // caches the hash, so that later changes are detected
	return done, err
}

// make lets a tool write a file, and puts it into the cache. A file that is not a model is not kept.
func (h *Targets) make(ctx context.Context, b Builder, sub Subject, c conversion, cache models) (converted, error) {
	done := converted{from: c.from, tool: c.tool.String()}
	draft, err := cache.draft()
	if err != nil {
		return done.refuse(sub, c, schema.StatusError, err), nil
	}
	defer os.Remove(draft)
	outcome, err := h.runConverter(ctx, b, sub, c, draft)
	if err != nil || ctx.Err() != nil {
		return done, err
	}
	if outcome.Status != schema.StatusOK {
		return done.refuse(sub, c, outcome.Status, buildError([]string{done.tool}, outcome, sub.Point.Timeouts.Build)), nil
	}
	if done.path, done.hash, err = cache.keep(draft, c.key()); err != nil {
		return done.refuse(sub, c, schema.StatusError, fmt.Errorf("%s: %w", done.tool, err)), nil
	}
	done.took = max(outcome.Stages.Launch(), 1)
	return done, nil
}

// refuse records why there is no file.
func (c converted) refuse(sub Subject, of conversion, status schema.Status, why error) converted {
	kind := kindConvert
	if status == schema.StatusUnsupported {
		kind = "not_applied"
	}
	c.refused, c.refusedError = &task.Outcome{Status: status, ErrorKind: kind}, fmt.Errorf("converting %s to %s: %w", sub.Point.ModelPath, of.to, why)
	return c
}

// runConverter runs the tool as a build is run.
func (h *Targets) runConverter(ctx context.Context, b Builder, sub Subject, c conversion, draft string) (task.Outcome, error) {
	source, err := filepath.Abs(c.source)
	if err != nil {
		return task.Outcome{}, fmt.Errorf("converting %s: %w", sub.Point.ModelPath, err)
	}
	command, err := c.tool.Command(source, draft)
	if err != nil {
		return task.Outcome{}, err
	}
	p, limit := sub.Point, sub.Point.Timeouts.Build
	b.Observe(sub, append([]string{"convert", p.ModelPath, "from", c.from, "to", c.to, "by"}, strings.Fields(c.tool.String())...))
	outcome, err := b.Run(ctx, task.Spec{
		Launch:    task.Launch{Executor: schema.ExecutorCommand, Command: command, Dir: h.Sides[sub.Side].resolve(p.Dir), Iterations: 1},
		Env:       slices.Concat([]string{"PYTHONDONTWRITEBYTECODE=1"}, environOf(p.Env)),
		Deadlines: task.EachStage(limit),
	})
	if err != nil {
		return task.Outcome{}, fmt.Errorf("converting %s: %w", p.ModelPath, err)
	}
	return outcome, nil
}

// noteConverted adds the file that ran to the applied settings.
func (t *Target) noteConverted(o *task.Outcome) {
	if t.converted == nil || o.Applied == nil {
		return
	}
	o.Applied[appliedHash], o.Applied[appliedTool], o.Applied[appliedFrom] = t.converted.hash, t.converted.tool, t.converted.from
}

// describe describes a model file by its hash; the zero value if it is not an ONNX file.
func (h *Targets) describe(path, hash string) onnx.Description {
	if d, known := h.described[hash]; known {
		return d
	}
	var d onnx.Description
	if file, err := os.Open(path); err == nil {
		d, _ = onnx.Describe(file) // the worker reports errors in a file
		_ = file.Close()
	}
	h.described[hash] = d
	return d
}

// useGenerated makes the worker load a generated model.
func (t *Target) useGenerated(model []byte) {
	t.model = model
	d, _ := onnx.Describe(bytes.NewReader(model)) // TestDescribe covers all of them
	t.noteDescription(d)
}

// noteDescription stores the description of the file that runs, instead of the description of another one.
func (t *Target) noteDescription(d onnx.Description) {
	for fact := range t.Facts {
		if fact == factOpset || fact == factParameters || strings.HasPrefix(fact, factWeights) {
			delete(t.Facts, fact)
		}
	}
	t.described = nil
	if d.Weights == nil {
		return
	}
	t.described = &python.Described{Precision: d.Precision, AccuracyLevels: d.AccuracyLevels}
	if d.Opset > 0 {
		t.Facts[factOpset] = strconv.FormatUint(d.Opset, 10)
	}
	for format, count := range d.Weights {
		t.Facts[factWeights+format] = strconv.FormatUint(count, 10)
	}
	if n := d.Parameters(); n > 0 {
		t.Facts[factParameters] = strconv.FormatUint(n, 10)
	}
}

// addExternal replaces the hash of a model with external data by a hash of all its files: of the lines that sha256sum prints for the
// model on its standard input and for the other files by their names. A model whose data cannot be read is refused. So is one that names
// a file outside its folder, which the format forbids. A symbolic link there is followed: it was made by the owner of the folder.
func (h *Targets) addExternal(t *Target, d onnx.Description, at location) {
	if len(d.External) == 0 {
		return
	}
	var lines strings.Builder
	lines.WriteString(t.ModelSHA256 + "  -\n")
	for _, name := range d.External {
		hash, err := h.external(filepath.Join(filepath.Dir(task.InDir(t.Spec.Dir, t.Point.ModelPath)), name), name)
		if err != nil {
			t.refuseFile("model", at, "model "+t.Point.ModelPath+": its external data "+strconv.Quote(name), err)
			return
		}
		lines.WriteString(hash + "  " + name + "\n")
	}
	t.ModelSHA256 = hashOf([]byte(lines.String()))
	t.Facts[factExternal] = strconv.Itoa(len(d.External))
}

// external returns the hash of a file with external data. Nothing is read that has no end.
func (h *Targets) external(path, name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", errors.New("is outside the folder of the model")
	}
	if info := infoOf(path); info != nil && !info.Mode().IsRegular() {
		return "", errors.New("is not a regular file")
	}
	return h.sha256(path)
}

// Prefixes of facts with the hashes of files that a model needs besides its own. The path follows, as it is written.
const (
	factInput   = "inputs.sha256."  // the content of an input
	factLibrary = "session.sha256." // a library with operators
)

// IsModelFile reports whether a fact is the hash of a file that a model needs besides its own.
func IsModelFile(fact string) bool {
	return strings.HasPrefix(fact, factInput) || strings.HasPrefix(fact, factLibrary)
}

// extraFile is a file that a model needs besides its own.
type extraFile struct{ fact, path, key string }

// extraFiles returns the files of the inputs and the session of a point.
func extraFiles(p *sweep.Point) (files []extraFile) {
	for _, name := range slices.Sorted(maps.Keys(p.Inputs)) {
		if path := p.Inputs[name].File; path != "" {
			files = append(files, extraFile{factInput, path, "inputs." + name})
		}
	}
	if p.Session != nil {
		for _, path := range p.Session.Libraries {
			files = append(files, extraFile{factLibrary, path, "session.custom_ops_library"})
		}
	}
	return files
}

// prepareInputs hashes the files of the inputs and the session of a model. One that cannot be read refuses the target.
func (h *Targets) prepareInputs(t *Target, at location) {
	for _, f := range extraFiles(t.Point) {
		text, err := h.sha256(task.InDir(t.Spec.Dir, f.path))
		if err != nil {
			t.refuseFile("model", at, f.key+": "+f.path, err)
			continue
		}
		t.Facts[f.fact+f.path] = text
	}
}

// fileHashes returns the hashes of the files that a model needs besides its own, by their facts.
func (t *Target) fileHashes() map[string]string {
	files := maps.Clone(t.Facts)
	maps.DeleteFunc(files, func(fact, _ string) bool { return !IsModelFile(fact) })
	return files
}

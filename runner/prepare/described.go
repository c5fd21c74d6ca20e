package prepare

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/runner/onnx"
	"github.com/neurolens/neurolens/runner/python"
)

// describe describes a model file by its hash; the zero value if it is not an ONNX file.
func (h *Targets) describe(path, hash string) onnx.Description {
	if d, known := h.described[hash]; known {
		return d
	}
	var d onnx.Description
	if file, err := os.Open(path); err == nil {
		d, _ = onnx.Describe(file) // the worker says what is wrong with a file
		_ = file.Close()
	}
	h.described[hash] = d
	return d
}

// generated makes the worker load a generated model.
func (t *Target) generated(model []byte) {
	t.model = model
	d, _ := onnx.Describe(bytes.NewReader(model)) // TestDescribe has all of them
	t.note(d)
}

// note keeps the description of the file that runs, instead of that of another one.
func (t *Target) note(d onnx.Description) {
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

// addExternal makes the hash of a model with external data the hash of all its files: of the lines that sha256sum prints for the
// model on its standard input and for the other files by their names. A model whose data cannot be read is refused. So is one that
// names a file outside its folder, which the format forbids. A symbolic link there is followed: it was made by who owns the folder.
func (h *Targets) addExternal(t *Target, d onnx.Description, at location) {
	if len(d.External) == 0 {
		return
	}
	var lines strings.Builder
	lines.WriteString(t.ModelSHA256 + "  -\n")
	for _, name := range d.External {
		hash, err := h.external(filepath.Join(filepath.Dir(inDir(t.Spec.Dir, t.Point.ModelPath)), name), name)
		if err != nil {
			t.refuseFile("model", at, "model "+t.Point.ModelPath+": its external data "+strconv.Quote(name), err)
			return
		}
		lines.WriteString(hash + "  " + name + "\n")
	}
	t.ModelSHA256 = hashOf([]byte(lines.String()))
	t.Facts[factExternal] = strconv.Itoa(len(d.External))
}

// external is the hash of a file with external data. Nothing is read that has no end.
func (h *Targets) external(path, name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", errors.New("is outside the folder of the model")
	}
	if info := infoOf(path); info != nil && !info.Mode().IsRegular() {
		return "", errors.New("is not a regular file")
	}
	return h.sha256(path)
}

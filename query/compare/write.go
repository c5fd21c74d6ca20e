package compare

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/baseline"
)

// machineInName is the placeholder for the machine in the name of a file.
const machineInName = "{machine}"

// BaselineWritten describes what Write did.
type BaselineWritten struct {
	File     string
	Session  string
	Points   int // points that were written
	Replaced int // of these, points that the file had before
	Kept     int // other points in the file
	Few      int // written points with fewer runs than a gate needs
}

// Write writes the points to a baseline file. Points that the file already has are replaced; others are kept. {machine} in its name
// stands for the machine. It is an ErrInput if the file exists and is not a baseline. The file is replaced as a whole or not at all.
func (b *Baseline) Write(path string) (BaselineWritten, error) {
	w := BaselineWritten{File: path, Session: b.SessionID, Points: len(b.Points)}
	if strings.Contains(path, machineInName) {
		machine := b.Points[0].Machine
		if slices.ContainsFunc(b.Points, func(p baseline.Point) bool { return p.Machine != machine }) {
			return w, answer.InputError("bless: the runs are from several machines, and the file name contains %s: add machine=NAME to the filter", machineInName)
		}
		w.File = strings.ReplaceAll(path, machineInName, strings.ReplaceAll(machine, "/", "_"))
	}
	var d baseline.Document
	switch text, err := os.ReadFile(w.File); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return w, answer.InputError("bless: %v", err)
	default:
		there, err := baseline.Decode(text)
		if err != nil {
			return w, answer.InputError("bless: %s is not a baseline file and is not replaced: %v", w.File, err)
		}
		d = *there
	}
	w.Replaced = d.Replace(b.SessionID, b.Session, b.Points)
	w.Kept = len(d.Points) - len(b.Points)
	for _, p := range b.Points {
		if len(p.Metrics[0].Runs) < judge.FirmRuns {
			w.Few++
		}
	}
	text, err := baseline.Encode(&d)
	if err != nil {
		return w, err
	}
	err = files.Replace(w.File, text)
	if folder := filepath.Dir(w.File); errors.Is(err, fs.ErrNotExist) {
		err = answer.InputError("writing %s: there is no folder %s", answer.Brief(w.File), answer.Brief(folder))
	}
	return w, err
}

// BaselineFields are the columns of Written.
func BaselineFields() []answer.Field[BaselineWritten] {
	column := func(name string, t answer.Type, meaning string, of func(*BaselineWritten) any) answer.Field[BaselineWritten] {
		return answer.Field[BaselineWritten]{Column: answer.Column{Name: name, Type: t}, Meaning: meaning, Of: of}
	}
	return []answer.Field[BaselineWritten]{
		column("file", answer.TypeText, "the file", func(w *BaselineWritten) any { return w.File }),
		column("session", answer.TypeText, "session of the points", func(w *BaselineWritten) any { return w.Session }),
		column("points", answer.TypeInteger, "number of points that were written", func(w *BaselineWritten) any { return int64(w.Points) }),
		column("replaced", answer.TypeInteger, "number of written points that the file had before", func(w *BaselineWritten) any { return int64(w.Replaced) }),
		column("kept", answer.TypeInteger, "number of other points in the file", func(w *BaselineWritten) any { return int64(w.Kept) }),
		column("few_runs", answer.TypeInteger, "number of written points with fewer runs than a gate needs", func(w *BaselineWritten) any { return int64(w.Few) }),
	}
}

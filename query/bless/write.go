package bless

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/baseline"
)

// machineInName is the placeholder for the machine in the name of a file.
const machineInName = "{machine}"

// Written describes what Write did.
type Written struct {
	File     string
	Session  string
	Points   int // points that were written
	Replaced int // of these, points that the file had before
	Kept     int // other points in the file
	Few      int // written points with fewer runs than a gate needs
}

// Write writes the points to a baseline file. Points that the file already has are replaced; others are kept. {machine} in its name
// stands for the machine. It is an ErrInput if the file exists and is not a baseline. The file is replaced as a whole or not at all.
func (b *Blessed) Write(path string) (Written, error) {
	w := Written{File: path, Session: b.SessionID, Points: len(b.Points)}
	if strings.Contains(path, machineInName) {
		machine := b.Points[0].Machine
		if slices.ContainsFunc(b.Points, func(p baseline.Point) bool { return p.Machine != machine }) {
			return w, fault.Input("bless: the runs are from several machines, and the file name contains %s: add machine=NAME to the filter", machineInName)
		}
		w.File = strings.ReplaceAll(path, machineInName, strings.ReplaceAll(machine, "/", "_"))
	}
	var d baseline.Document
	switch text, err := os.ReadFile(w.File); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return w, fault.Input("bless: %v", err)
	default:
		there, err := baseline.Decode(text)
		if err != nil {
			return w, fault.Input("bless: %s is not a baseline file and is not replaced: %v", w.File, err)
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
		err = fault.Input("writing %s: there is no folder %s", fault.Brief(w.File), fault.Brief(folder))
	}
	return w, err
}

// Fields are the columns of Written.
func Fields() []answer.Field[Written] {
	column := func(name string, t answer.Type, meaning string, of func(*Written) any) answer.Field[Written] {
		return answer.Field[Written]{Column: answer.Column{Name: name, Type: t}, Meaning: meaning, Of: of}
	}
	return []answer.Field[Written]{
		column("file", answer.TypeText, "the file", func(w *Written) any { return w.File }),
		column("session", answer.TypeText, "session of the points", func(w *Written) any { return w.Session }),
		column("points", answer.TypeInteger, "number of points that were written", func(w *Written) any { return int64(w.Points) }),
		column("replaced", answer.TypeInteger, "number of written points that the file had before", func(w *Written) any { return int64(w.Replaced) }),
		column("kept", answer.TypeInteger, "number of other points in the file", func(w *Written) any { return int64(w.Kept) }),
		column("few_runs", answer.TypeInteger, "number of written points with fewer runs than a gate needs", func(w *Written) any { return int64(w.Few) }),
	}
}

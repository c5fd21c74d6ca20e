package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"

	"github.com/neurolens/neurolens/runner/python"
	"github.com/neurolens/neurolens/runner/sweep"
)

// host remembers what was found out about this machine for the points of a session: each file is read once as long as it
// stays the same, and each interpreter is asked once.
type host struct {
	sweep        *sweep.Sweep
	version      string // of NeuroLens
	points       string // see pointsHash
	targets      map[subject]*target
	stale        map[subject]*target // prepared before some file changed; see fresh
	hashes       map[string]hash
	outputs      map[string]bool // files that commands write
	interpreters map[string]interpreter
}

// hash is that of a file, and what the file was then.
type hash struct {
	text string
	err  error
	file fs.FileInfo // nil: there was none
}

type interpreter struct {
	python.Interpreter
	err error
}

func newHost(s *sweep.Sweep, o Options) *host {
	return &host{
		sweep: s, version: o.Version, points: pointsHash(s), targets: map[subject]*target{}, stale: map[subject]*target{},
		hashes: map[string]hash{}, outputs: map[string]bool{}, interpreters: map[string]interpreter{},
	}
}

// sha256 is the hash of a file in hex.
func (h *host) sha256(path string) (string, error) {
	known, ok := h.hashes[path]
	if !ok {
		known.file = infoOf(path) // before it is read: what changes while it is read has changed
		known.text, known.err = hashFile(path)
		h.hashes[path] = known
	}
	return known.text, known.err
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}

// interpreter asks a Python interpreter what it is.
func (h *host) interpreter(ctx context.Context, name string) (python.Interpreter, error) {
	known, ok := h.interpreters[name]
	if !ok {
		known.Interpreter, known.err = python.Resolve(ctx, name, os.Environ())
		h.interpreters[name] = known
	}
	return known.Interpreter, known.err
}

// hashOf is the hash of bytes in hex.
func hashOf(b []byte) string {
	digest := sha256.Sum256(b)
	return hex.EncodeToString(digest[:])
}

package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// Format is the version of the store directory that this code writes, and that it and every later one reads.
const Format = 1

// Errors about a store wrap one of these.
var (
	ErrNoStore = errors.New("no store found; bench or store init creates one, --store DIR names another")
	ErrFormat  = errors.New("unknown store format")
	ErrDamaged = errors.New("the store is damaged")
)

// Header is the content of neurolens.json. It is written once and never changed.
type Header struct {
	Format  int       `json:"format"`
	StoreID string    `json:"store_id"`
	Created time.Time `json:"created"`
}

// Encode prints the header as in neurolens.json: one JSON object that ends with its SHA-256.
func (h Header) Encode() ([]byte, error) {
	b, err := SignJSON(h)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", HeaderFile, err)
	}
	return b, nil
}

// DecodeHeader parses a header. The error wraps ErrFormat or ErrDamaged.
func DecodeHeader(b []byte) (Header, error) {
	var version struct {
		Format *int `json:"format"`
	}
	if err := json.Unmarshal(b, &version); err != nil || version.Format == nil {
		return Header{}, fmt.Errorf("%w: %s is not a store header", ErrDamaged, HeaderFile)
	}
	if *version.Format != Format {
		return Header{}, fmt.Errorf("%w: %s has format %d, and this version reads format %d", ErrFormat, HeaderFile, *version.Format, Format)
	}
	var h Header
	if err := ReadSignedJSON(b, &h); err != nil {
		return Header{}, fmt.Errorf("%s: %w", HeaderFile, err)
	}
	return h, nil
}

// ReadHeader reads the header of a store directory. The error wraps ErrNoStore if there is no store, ErrFormat or ErrDamaged, or comes
// from the file system.
func ReadHeader(store fs.FS) (Header, error) {
	b, err := ReadSmall(store, HeaderFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := fs.Stat(store, CompactFile); err == nil {
			return Header{}, unfinishedError{}
		}
		return Header{}, ErrNoStore
	case err != nil:
		return Header{}, err
	}
	return DecodeHeader(b)
}

// unfinishedError is an ErrNoStore about a directory that an interrupted store compact left, or that one is writing.
type unfinishedError struct{}

func (unfinishedError) Error() string {
	return "no store yet: store compact has not finished this directory; the same command again continues it"
}

func (unfinishedError) Is(target error) bool { return target == ErrNoStore }

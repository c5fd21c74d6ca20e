package formats

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// base is the name of a file without its folder and ending.
func base(name string) string {
	name, _, _ = strings.Cut(path.Base(name), ".")
	return name
}

// side reads a side file into what v points to. One that is absent leaves v as it is.
func side(in *foreign.Input, name string, v any) error {
	content, err := in.Side(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	err = foreign.DecodeAt("", content, v)
	var m *foreign.Mismatch
	if errors.As(err, &m) && m.Where != "" {
		return fmt.Errorf("reading %s, %s: %w", name, m.Where, err)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return nil
}

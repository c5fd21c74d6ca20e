package micro

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// mostHeld is how much is held of what can be read only once.
const mostHeld = 128 << 20

// twice opens the input for two readings: the first one looks for what stands behind the records that need it. A file is
// opened again, standard input is held.
func twice(in *foreign.Input) (first, second *foreign.Input, err error) {
	if in.Folder != nil {
		second, err = foreign.Open(in.Folder, in.Path, in.Location)
		if err != nil {
			return nil, nil, fmt.Errorf("opening %s once more: %w", in.Name, err)
		}
		return in, second, nil
	}
	text, err := io.ReadAll(io.LimitReader(in.Text(), mostHeld+1))
	if err != nil {
		return nil, nil, err
	}
	if len(text) > mostHeld {
		return nil, nil, fmt.Errorf("reading %s: more than %d MiB that is no file", in.Name, mostHeld>>20)
	}
	if first, err = foreign.FromReader(bytes.NewReader(text), in.Name, in.Location); err != nil {
		return nil, nil, err
	}
	second, err = foreign.FromReader(bytes.NewReader(text), in.Name, in.Location)
	return first, second, err
}

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

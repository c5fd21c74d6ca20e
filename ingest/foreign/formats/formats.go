// Package formats is the list of the formats that are read.
package formats

import (
	"errors"
	"fmt"
	"slices"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/generic"
	"github.com/neurolens/neurolens/ingest/foreign/gpu"
	"github.com/neurolens/neurolens/ingest/foreign/harness"
	"github.com/neurolens/neurolens/ingest/foreign/machine"
	"github.com/neurolens/neurolens/ingest/foreign/micro"
	"github.com/neurolens/neurolens/ingest/foreign/serving"
	"github.com/neurolens/neurolens/ingest/foreign/traces"
	"github.com/neurolens/neurolens/schema"
)

// All gives the formats in the order of --list-formats.
func All() []foreign.Format {
	return slices.Concat(generic.Formats(), harness.Formats(), micro.Formats(), gpu.Formats(), serving.Formats(), traces.Formats(), machine.Formats())
}

// Named is the format of that name, or nil for an empty name.
func Named(name string) (*foreign.Format, error) {
	if name == "" {
		return nil, nil
	}
	var names []string
	for _, f := range All() {
		if f.Read == nil {
			continue
		}
		if f.Name == name {
			return &f, nil
		}
		names = append(names, f.Name)
	}
	if name == generic.CSV {
		return nil, errors.New("add --map FILE, which describes the columns")
	}
	if near := schema.Nearest(name, names); near != "" {
		return nil, fmt.Errorf("unknown format; did you mean %s?", near)
	}
	return nil, errors.New("unknown format; --list-formats lists all")
}

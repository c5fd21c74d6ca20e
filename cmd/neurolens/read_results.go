package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/neurolens/neurolens/ingest/foreign"
	foreignformats "github.com/neurolens/neurolens/ingest/foreign/formats"
	"github.com/neurolens/neurolens/schema"
)

// readableFormats are the names of the formats that an output can be in.
func readableFormats() (names []string) {
	for _, f := range foreignformats.All() {
		if f.Read != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// readResults gives the runs that the output of a benchmark tool has, as ingest reads them. What ingest would report as
// refused is an error: there is nobody who reads the report.
func readResults(ctx context.Context, format, file string, output io.Reader) ([]schema.Run, error) {
	all := foreignformats.All()
	i := slices.IndexFunc(all, func(f foreign.Format) bool { return f.Name == format })
	if i < 0 || all[i].Read == nil {
		return nil, fmt.Errorf("%s is no format that is read", format)
	}
	input, err := foreign.FromReader(output, path.Base(file), nil)
	if err != nil {
		return nil, err
	}
	defer input.Close()
	var runs []schema.Run
	report, err := foreign.NewReader(foreign.Added{}, nil).Read(input, &all[i], func(run schema.Valid) bool {
		runs = append(runs, run.Run())
		return ctx.Err() == nil
	})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("reading it as %s: %w", format, err)
	case report.Refused > 0:
		return nil, fmt.Errorf("reading it as %s: %s", format, report.Refusals[0])
	case len(runs) == 0:
		return nil, errors.New("reading it as " + format + ": it has no run")
	}
	return runs, nil
}

package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// ReadableFormats returns the names of the formats that the output of a program can have.
func ReadableFormats(formats []foreign.Format) (names []string) {
	for _, f := range formats {
		if f.Read != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// FilesBeside returns the names of the files that are read together with one of this name, if the process wrote them, in a format with
// the given name.
func FilesBeside(formats []foreign.Format, format, file string) []string {
	i := slices.IndexFunc(formats, func(f foreign.Format) bool { return f.Name == format })
	if i < 0 || formats[i].Beside == nil {
		return nil
	}
	return slices.DeleteFunc(formats[i].Beside(file), func(name string) bool { return name == file })
}

// ReadResults reads the output of a program in a format with the given name, or without a name in the one that recognises it, and returns
// the runs as they would be imported. file is the name of the output, and outputs has it and the files next to it. Refused records are an
// error, because there is no report.
func ReadResults(ctx context.Context, formats []foreign.Format, format, file string, outputs Outputs) ([]schema.Run, error) {
	input, err := foreign.Open(ctx, outputs, file, nil)
	if err != nil {
		return nil, err
	}
	defer input.Close()
	var as *foreign.Format
	if i := slices.IndexFunc(formats, func(f foreign.Format) bool { return f.Name == format }); i >= 0 {
		as = &formats[i]
	} else if format == "" {
		if as, err = input.Format(formats); err != nil {
			return nil, err
		}
	}
	if as == nil || as.Read == nil {
		return nil, fmt.Errorf("unknown format %s", format)
	}
	var runs []schema.Run
	report, err := foreign.NewReader(foreign.Added{}, nil).Read(input, as, func(run schema.Valid) bool {
		runs = append(runs, run.Run())
		return ctx.Err() == nil
	})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("reading it as %s: %w", as.Name, err)
	case report.Refused > 0:
		return nil, fmt.Errorf("reading it as %s: %s", as.Name, report.Refusals[0])
	case len(runs) == 0:
		return nil, errors.New("reading it as " + as.Name + ": it has no runs")
	}
	return runs, nil
}

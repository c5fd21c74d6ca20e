package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens/measuring"
	"github.com/neurolens/neurolens/runner/cmdline"
)

// all runs what stands on the command line: one session for each sweep file, in order. All are read before the first one runs.
func (b *bench) all(args []string) error {
	sessions, err := b.open(args)
	if err != nil {
		return err
	}
	defer func() {
		for _, s := range sessions {
			_ = s.source.Close()
		}
	}()
	if b.flags.printSweep {
		return sessions[0].keep()
	}
	for _, s := range sessions {
		if err := s.read(); err != nil {
			return err
		}
	}
	if sessions[0].format == measuring.FormatArrow && b.flags.dryRun {
		return usageErrorf("--format arrow holds runs, and --dry-run has none: want another format")
	}
	if format := sessions[0].format; len(sessions) > 1 && slices.Contains([]string{"json", "csv", "plain", measuring.FormatArrow}, format) {
		return usageErrorf("--format %s holds one session, and there are %d sweep files: want jsonl or table", format, len(sessions))
	}
	var worst error
	for _, s := range sessions {
		err := s.session()
		switch {
		case b.cmd.Context().Err() != nil: // the next one would only say so again
			return err
		case err == nil:
			continue
		case errors.Is(err, context.Canceled) || exitCode(err) >= exitStore:
			return err
		}
		if exitCode(err) > exitCode(worst) {
			err, worst = worst, err
		}
		if err != nil {
			printError(b.stderr, err)
		}
	}
	return worst
}

// open finds out what is measured, and with which settings of the command line.
func (b *bench) open(args []string) ([]*bench, error) {
	overrides, err := b.flags.overrides(b.app, b.cmd)
	if err != nil {
		return nil, err
	}
	sources, err := cmdline.Open(cmdline.Args{Args: args, Words: b.args, Dash: b.cmd.ArgsLenAtDash(), File: b.flags.config, Stdin: os.Stdin}, &overrides)
	if err != nil {
		return nil, usageErrorf("bench: %w", err)
	}
	if b.layout, err = b.flags.out.Session(); err != nil {
		return nil, usageError{err}
	}
	var sessions []*bench
	var names, settings []string
	for _, source := range sources {
		settings = append(settings, source.Path)
	}
	settings = slices.DeleteFunc(append(settings, b.project.Path()), func(path string) bool { return path == "" })
	for _, source := range sources {
		one := *b
		one.source, one.overrides, one.outDir, one.settings = source, overrides, b.flags.out.OutDir, settings
		one.overrides.Given = maps.Clone(overrides.Given)
		if name := strings.TrimSuffix(filepath.Base(source.Path), filepath.Ext(source.Path)); len(sources) > 1 && one.outDir != "" {
			if slices.Contains(names, name) {
				return nil, usageErrorf("--out-dir: two of the sweep files are called %s, and each has a folder of its name", name)
			}
			names, one.outDir = append(names, name), filepath.Join(one.outDir, name)
		}
		sessions = append(sessions, &one)
	}
	return sessions, nil
}

// session runs one sweep, or says what of it would run.
func (b *bench) session() error {
	for _, note := range append([]string{b.source.Note}, b.sweep.Notes...) {
		measuring.Note(b.stderr, note)
	}
	if b.flags.verbose {
		measuring.Discovered(b.stderr, b.sweep)
	}
	if b.flags.dryRun {
		return b.plan()
	}
	return b.run()
}

// keep prints the sweep file that the line stands for.
func (b *bench) keep() error {
	text, err := b.source.Keep(b.overrides, b.cmd.Flags().Changed)
	if err != nil {
		return usageErrorf("bench: %w", err)
	}
	_, err = b.stdout.Write(text)
	return err
}

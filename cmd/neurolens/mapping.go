package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
)

// maxDrafted is the number of files for which it is tried whether a mapping can be drafted.
const maxDrafted = 100

// needsMapping is the reason why a table was not read for which a command drafts the mapping.
const needsMapping = "its columns need a mapping"

// draftCommands returns the commands that show the drafts of mappings for tables of no known format, and store their runs: one for the
// tables with the same columns. drafted has the files that it covers. It leaves out tables whose draft has a doubt, which somebody has to
// resolve before runs are stored. flags are those of the command line.
func draftCommands(ctx context.Context, files, flags []string) (commands []string, drafted map[string]bool) {
	drafted = map[string]bool{}
	var kinds, names []string
	of := map[string][]string{} // files by the kind of their table
	tables := map[string]string{}
	for _, file := range files[:min(len(files), maxDrafted)] {
		draft, known := draftOf(ctx, file)
		if !known || !draft.Sure {
			continue
		}
		if of[draft.Kind] == nil {
			kinds = append(kinds, draft.Kind)
		}
		of[draft.Kind], tables[draft.Kind], drafted[file] = append(of[draft.Kind], file), draft.Table, true
	}
	for _, kind := range kinds {
		first := of[kind][0]
		name := newName(strings.TrimSuffix(filepath.Base(first), filepath.Ext(first)), names)
		names = append(names, name)
		draft := term.ShellLine("neurolens", "ingest", "--guess", first) + " | tee " + term.ShellWord(name)
		store := term.ShellLine(slices.Concat([]string{"neurolens", "ingest", "--from", tables[kind], "--map", name}, flags)...)
		commands = append(commands, draft+" && "+store+" "+fileWords(of[kind]))
	}
	return commands, drafted
}

// draftOf drafts a mapping for a file; known is false if it has a format, or cannot be read as a table.
func draftOf(ctx context.Context, file string) (draft formats.Draft, known bool) {
	sources, err := foreign.Sources([]string{file}, nil)
	if err != nil || len(sources) != 1 {
		return draft, false
	}
	in, err := sources[0].Open(ctx, nil)
	if err != nil {
		return draft, false
	}
	defer in.Close()
	if len(foreign.Recognize(formats.All(), in.Head)) > 0 {
		return draft, false
	}
	draft, err = formats.Guess(in, "")
	return draft, err == nil
}

// newName returns the name of a mapping that no file has, and that is none of the names that are taken.
func newName(stem string, taken []string) string {
	name := stem + ".yaml"
	for n := 2; exists(name) || slices.Contains(taken, name); n++ {
		name = stem + "-" + strconv.Itoa(n) + ".yaml"
	}
	return name
}

// fileWords returns files as words of a command line: of many, a pattern that matches these and no other file, if there is one.
func fileWords(files []string) string {
	const few = 3
	prefix, suffix := files[0], files[0]
	for _, file := range files {
		for !strings.HasPrefix(file, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
		for !strings.HasSuffix(file, suffix) {
			suffix = suffix[1:]
		}
	}
	if len(files) > few && len(prefix)+len(suffix) < len(files[0]) && !strings.ContainsAny(prefix+suffix, `*?[\`) {
		matches, err := filepath.Glob(prefix + "*" + suffix)
		if err == nil && slices.Equal(matches, slices.Sorted(slices.Values(files))) {
			return term.ShellWord(prefix) + "*" + term.ShellWord(suffix)
		}
	}
	return term.ShellLine(files...)
}

// typedFlags returns the flags of a command line as words, without those of some names.
func typedFlags(cmd *cobra.Command, without ...string) (words []string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, is := f.Value.(pflag.SliceValue); is {
			values = list.GetSlice()
		}
		for _, value := range values {
			switch {
			case slices.Contains(without, f.Name):
			case f.Value.Type() == "bool":
				words = append(words, "--"+f.Name+"="+value)
			default:
				words = append(words, "--"+f.Name, value)
			}
		}
	})
	return words
}

// drafts returns the commands for the tables among files that no format recognises, and says in their reports that a mapping is missing. Files
// that were found in folders stand in the order of their changes, as they are compared.
func (in *ingesting) drafts(ctx context.Context) []string {
	var files []string
	changed := map[string]time.Time{} // zero: the user named the file
	for _, one := range in.reading.Reports {
		if one.State != ingest.FileUnknown || foreign.IsResemblance(one.Why) {
			continue
		}
		if info, err := os.Stat(one.Name); err == nil && info.Mode().IsRegular() {
			files = append(files, one.Name)
			if !one.Named {
				changed[one.Name] = info.ModTime().Truncate(time.Second)
			}
		}
	}
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Or(changed[a].Compare(changed[b]), views.Age(a)-views.Age(b)) })
	commands, drafted := draftCommands(ctx, files, in.flags)
	for i := range in.reading.Reports {
		if one := &in.reading.Reports[i]; drafted[one.Name] {
			one.Why = needsMapping
		}
	}
	return commands
}

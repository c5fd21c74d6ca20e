package project

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/neurolens/neurolens/runner/sweep"
)

// placeholders are the words that stand for a path in the help of a flag.
var placeholders = []string{"DIR", "FILE", "FOLDER", "NEWDIR"}

// pathVariables are the variables whose values are paths.
var pathVariables = []string{"NEUROLENS_LOCKS", variablePython, "NEUROLENS_STORE"}

// expandFlags replaces the paths that the command line gives to flags: a shell does not expand --store=~/runs.
func expandFlags(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if name, _ := pflag.UnquoteUsage(f); err != nil || !slices.Contains(placeholders, name) {
			return
		}
		list, many := f.Value.(pflag.SliceValue)
		texts := []string{f.Value.String()}
		if many {
			texts = list.GetSlice()
		}
		for i, text := range texts {
			if texts[i], err = sweep.ExpandPath(text); err != nil {
				err = fmt.Errorf("--%s: %w", f.Name, err)
				return
			}
		}
		if many {
			err = list.Replace(texts)
		} else {
			err = f.Value.Set(texts[0])
		}
	})
	return err
}

// expanded is an environment in which the variables that are paths are replaced.
func expanded(environ func(string) string) (func(string) string, error) {
	paths := map[string]string{}
	for _, name := range pathVariables {
		path, err := sweep.ExpandPath(environ(name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		paths[name] = path
	}
	return func(name string) string {
		if path, is := paths[name]; is {
			return path
		}
		return environ(name)
	}, nil
}

package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// showFiles prints the files that a run left and, where a folder is named, writes those that are stored into it.
func (a *app) showFiles(cmd *cobra.Command, db *query.DB, run *schema.Run, save, format string) error {
	all, err := query.Artifacts(cmd.Context(), db, run)
	if err != nil {
		return err
	}
	pruned := 0
	if save != "" {
		files, bytes, err := query.SaveArtifacts(cmd.Context(), all, save)
		if errors.Is(err, schema.ErrDamaged) {
			return storeError{err}
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(a.stderr, "%s of %s (%s) saved in %s\n", term.Count(files, "file"), run.RunID, output.Quantity(bytes, "B"), save)
		for i := range all {
			if all[i].State == query.ArtifactPruned {
				pruned++
			}
		}
	}
	t := answer.TableOf(query.ArtifactFields(), all)
	if err := a.print(format, t, func() term.View { return screens.Files(all) }); err != nil || save == "" {
		return err
	}
	if i := slices.IndexFunc(all, func(f query.Artifact) bool { return f.State == query.ArtifactMissing }); i >= 0 {
		return storeError{fmt.Errorf("%s is missing from the store; store merge from a store that has it brings it back", all[i].Path)}
	}
	if pruned > 0 {
		fmt.Fprintf(a.stderr, "%s %s pruned: store merge --restore-pruned brings back what another store has\n", term.Count(pruned, "file"), term.IsAre(pruned))
		return errRunsFailed
	}
	return nil
}

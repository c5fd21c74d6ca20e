package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

func newShowCommand(a *app) *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "show [RUN]",
		Short: "Show one run: samples, metrics, configuration, environment, stages",
		Long: `Show one run: its samples, metrics, configuration, environment and stages, and
the command that reproduces it. RUN is the beginning or end of a run id, if it
is unique. last, or no argument, is the run that started last.

The environment begins with what differs from the previous run of the same point
on the machine. Formats for programs print the row of the run with all columns.

--files lists the files of the run: those that the sweep's key artifacts names,
and the output if the run failed. --save writes them to a folder. --ops lists
the operators of a profiled run (from bench --profile, or an imported profile).`,
		Example: `  neurolens show
  neurolens show 7QX4M2ZK
  neurolens show last --files`,
		Args: arguments(0, 1, "one run id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.sort != "" && !f.ops {
				return usageErrorf("--sort %s: needs --ops", f.sort)
			}
			id := lastRun
			if len(args) > 0 {
				id = args[0]
			}
			return runShow(a, cmd, id, f)
		},
	}
	cmd.Flags().BoolVar(&f.ops, "ops", false, "list the operators of a profiled run, slowest first")
	cmd.Flags().StringVar(&f.sort, "sort", "", "with --ops, sort by `KEY`: "+strings.Join(summary.OperatorSortKeys(), " ")+"; -KEY for largest first")
	cmd.Flags().BoolVar(&f.files, "files", false, "list the files of the run, and whether they are stored")
	cmd.Flags().StringVar(&f.save, "save", "", "write the stored files to the folder `DIR`")
	return cmd
}

// showFlags are the flags of show.
type showFlags struct {
	files, ops bool
	save, sort string
}

// lastRun is what people may type for the run that started last. No id has an L.
const lastRun = "last"

// runNamed returns the id of a run that may be named by lastRun.
func runNamed(ctx context.Context, db *query.DB, id string) (string, error) {
	if id != lastRun {
		return id, nil
	}
	newest, err := db.WithoutWarnings().Newest(ctx)
	if err == nil && newest == "" {
		err = usageErrorf("run: %s", views.NoRuns)
	}
	return newest, err
}

func runShow(a *app, cmd *cobra.Command, id string, f showFlags) error {
	return a.queryStores(cmd, func(db *query.DB, format string) error {
		db = db.WithoutWarnings().Snapshot()
		id, err := runNamed(cmd.Context(), db, id)
		if err != nil {
			return err
		}
		detail, err := db.Show(cmd.Context(), id)
		if err != nil {
			return err
		}
		if f.ops {
			all, err := summary.Operators(cmd.Context(), db, &detail.Run, f.sort)
			if err != nil {
				return err
			}
			return a.print(format, answer.TableOf(summary.OperatorFields(), all), func() term.View { return views.Operators(&detail.Run, all) })
		}
		if f.files || f.save != "" {
			return a.showFiles(cmd, db, &detail.Run, f.save, format)
		}
		if !term.ForPeople(format) {
			return a.print(format, detail.Table(), nil)
		}
		related, err := db.Related(cmd.Context(), detail)
		if err != nil {
			return err
		}
		files, err := query.Artifacts(cmd.Context(), db, &detail.Run)
		if err != nil {
			return err
		}
		screen := views.Detail{
			Reader: a.display(), Facts: factWriter(), Settings: settingNames(), Files: files,
			Reproduce: views.ReproduceCommand(&detail.Run, related.Against, a.stores),
		}
		return a.printer().View(format, screen.View(detail, related))
	})
}

// settingNames returns the settings of a run that are facts, in the order of the keys of a sweep file.
func settingNames() []string {
	names := []string{"control"}
	for _, k := range sweep.Keys() {
		if k.Stored || k.Name == "profile" {
			names = append(names, k.Name)
		}
	}
	return names
}

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
		fmt.Fprintf(a.stderr, "%s of %s (%s) saved in %s\n", term.Count(files, "file"), run.RunID, term.Quantity(bytes, "B"), save)
		for i := range all {
			if all[i].State == query.ArtifactPruned {
				pruned++
			}
		}
	}
	t := answer.TableOf(query.ArtifactFields(), all)
	if err := a.print(format, t, func() term.View { return views.Files(all) }); err != nil || save == "" {
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

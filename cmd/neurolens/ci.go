package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/completion"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/workflow"
)

func newCICommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ci",
		Short: "Have a CI system measure each change",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	o := workflow.Options{}
	force := false
	init := &cobra.Command{
		Use:   "init " + strings.Join(workflow.Systems(), "|"),
		Short: "Write a workflow that measures each change",
		Long: `Write the files that have a CI system measure each change against its base:
ci/neurolens.sh, which does the work anywhere, and what calls it: a workflow of
GitHub, .gitlab-ci.yml, a Jenkinsfile, or, with plain, nothing. Their heads say
what to edit. A file that is there is not replaced without --force.

A pull request gets one comment that is kept up to date, main one issue for a
regression, which is closed when it is gone. Runs of main and develop are kept
(--history): in the cache of the CI system, in its artifacts, in the branch
neurolens-history, or in a folder that all machines share (docs/ci.md).`,
		Example: `  neurolens ci init github --sweep bench/sweep.yaml
  neurolens ci init jenkins --history /mnt/share/neurolens`,
		Args: arguments(1, 1, "one of "+strings.Join(workflow.Systems(), ", ")),
		RunE: func(_ *cobra.Command, args []string) error {
			format, err := a.outputFormat()
			if err != nil {
				return err
			}
			o.System = args[0]
			files, err := workflow.Files(o)
			if err != nil {
				return usageErrorf("ci init: %w", err)
			}
			if _, err := os.Lstat(".git"); err != nil {
				return usageErrorf("ci init: want the root of a git repository: there is no .git here")
			}
			states, err := workflow.Write(".", files, force)
			if err != nil {
				return usageErrorf("ci init: %w", err)
			}
			_, missing := os.Stat(o.Sweep)
			t := screens.WorkflowTable(files, states)
			return a.print(format, t, func() term.View { return screens.Workflow(t, o.Sweep, missing == nil) })
		},
	}
	flags := init.Flags()
	flags.StringVar(&o.Sweep, "sweep", "sweep.yaml", "the sweep `FILE`, from the root of the repository")
	flags.StringVar(&o.History, "history", "cache", "keep runs in `PLACE`: cache, artifact, branch, none or a folder")
	flags.BoolVar(&force, "force", false, "replace files that are there")
	completion.Words(init, "history", workflow.Histories())
	init.ValidArgs = workflow.Systems()
	cmd.AddCommand(init)
	return cmd
}

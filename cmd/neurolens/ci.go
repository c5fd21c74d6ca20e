package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/help"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/project"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
)

func newCICommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ci",
		Short: "Set up a CI system to measure each change",
		Long:  `Set up a CI system to measure each change. neurolens ci init writes the files.`,
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	o := project.WorkflowOptions{}
	force := false
	init := &cobra.Command{
		Use:   "init " + strings.Join(project.CISystems(), "|"),
		Short: "Write a CI workflow that measures each change",
		Long: `Write the files that let a CI system measure each change against its base.
ci/neurolens.sh does the work on any system. The second file calls it: a GitHub
workflow, .gitlab-ci.yml or a Jenkinsfile; plain writes no second file. The
comments at the top of each file say what to edit. An existing file is replaced
only with --force.

Each job has one comment in a pull request, which later runs update, also after
an error. A regression on main opens an issue, which is closed when the
regression is gone. On a busy machine set FLAGS and BENCH_FLAGS at the top of
ci/neurolens.sh, as --metric cpu_user and --until-conclusive. Runs of main and
develop are kept for history (--history): in the cache or the artifacts of the
CI system, in the branch neurolens-history, in a folder that all machines share,
or in a bucket, as s3://bench/team (docs/ci.md).`,
		Example: `  neurolens ci init github --sweep bench/sweep.yaml
  neurolens ci init jenkins --history /mnt/share/neurolens`,
		Args: arguments(1, 1, "one of "+strings.Join(project.CISystems(), ", ")),
		RunE: a.printing(func(_ *cobra.Command, args []string, format string) error {
			o.System = args[0]
			files, err := project.WorkflowFiles(o)
			if err != nil {
				return usageErrorf("ci init: %w", err)
			}
			if _, err := os.Lstat(".git"); err != nil {
				return usageErrorf("ci init: want the root of a git repository: there is no .git here")
			}
			states, err := project.WriteWorkflow(".", files, force)
			if err != nil {
				return usageErrorf("ci init: %w", err)
			}
			_, missing := os.Stat(o.Sweep)
			t := views.WorkflowTable(files, states)
			return a.print(format, t, func() term.View { return views.Workflow(t, o.Sweep, missing == nil) })
		}),
	}
	flags := init.Flags()
	flags.StringVar(&o.Sweep, "sweep", "sweep.yaml", "the sweep `FILE`, relative to the root of the repository")
	flags.StringVar(&o.History, "history", "cache", "keep earlier runs in `PLACE`: cache, artifact, branch, none, a folder or s3://BUCKET/PREFIX")
	flags.BoolVar(&force, "force", false, "replace existing files")
	help.Words(init, "history", project.CIHistories())
	init.ValidArgs = project.CISystems()
	cmd.AddCommand(init)
	return cmd
}

package help

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// firstFlags are the ten flags that help lists first, by command with more than twelve flags: the flags that most users need.
var firstFlags = map[string][]string{
	"bench":  {"against", "dry-run", "iterations", "max-time", "param", "prepare", "repeats", "shell", "until-conclusive", "warmup"},
	"bisect": {"first-parent", "iterations", "log", "max-blocks", "metric", "param", "setup", "targets", "threshold", "warmup"},
	"ls":     {"best", "by", "columns", "like", "limit", "metric", "pivot", "since", "sort", "tag"},
}

// ListFirstFlags makes the usage of commands with many flags list ten of them first, and the others last.
func ListFirstFlags(root *cobra.Command) {
	usage := root.UsageFunc()
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		first, many := firstFlags[pathOf(cmd)]
		if !many {
			return usage(cmd)
		}
		more := pflag.NewFlagSet("", pflag.ContinueOnError)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" && !slices.Contains(first, f.Name) {
				more.AddFlag(f)
			}
		})
		hide(more, true)
		err := usage(cmd)
		hide(more, false)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStderr(), "\nMore flags:\n%s\n", strings.TrimRight(more.FlagUsagesWrapped(helpWidth), "\n"))
		return err
	})
}

// hide hides flags, or shows them.
func hide(flags *pflag.FlagSet, hidden bool) {
	flags.VisitAll(func(f *pflag.Flag) { f.Hidden = hidden })
}

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
)

// metricFlag defines --metric of a command that shows several metrics.
func metricFlag(cmd *cobra.Command, names *[]string, usage string) {
	cmd.Flags().StringSliceVar(names, "metric", nil, usage)
}

// oneMetricFlag defines that of a command that shows one.
func oneMetricFlag(cmd *cobra.Command, name *string, usage string) {
	cmd.Flags().StringVar(name, "metric", "", usage)
}

// metricNames are the metrics that --metric names, each once.
func metricNames(given []string) ([]string, error) {
	names, err := splitMetrics(given)
	if err != nil {
		return nil, usageError{err}
	}
	return names, nil
}

// reportAbsent says which metrics that a command was asked for no run has.
func (a *app) reportAbsent(command string, absent query.Absent) {
	for _, line := range views.AbsentMetrics(absent) {
		fmt.Fprintln(a.stderr, term.OneLine("neurolens: "+command+": "+line))
	}
}

package plotting

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figures"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/query"
)

// belowFlag draws the chart of an answer below it.
const belowFlag = "plot"

// belows are the commands that draw below what they say, each with the command of the chart and the arguments that it takes.
var belows = map[string]struct {
	chart func(Host) *cobra.Command
	args  func(h Host, cmd *cobra.Command, args []string) ([]string, error)
}{
	"compare": {forest, same},
	"history": {trend, same},
	"show":    {runs, ofRun},
}

// AddFlags gives --plot to the commands of a program that draw below what they say. Flags that the chart has as well hold for both.
func AddFlags(h Host, root *cobra.Command) {
	for _, cmd := range root.Commands() {
		below, draws := belows[cmd.Name()]
		if !draws {
			continue
		}
		chart, answer := below.chart(h), cmd.RunE
		asked := cmd.Flags().Bool(belowFlag, false, "draw a chart below, as plot "+chart.Name()+" does")
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if !*asked {
				return answer(cmd, args)
			}
			if format, err := h.Formatted(); err != nil || !output.ForPeople(format) {
				return first(err, h.Wrong(fmt.Errorf("--plot needs a format for people: neurolens plot %s --format %s prints what would be drawn", chart.Name(), format)))
			}
			failed := answer(cmd, args)
			err := h.draw(chart, below.args, cmd, args)
			if refusal, is := errors.AsType[figures.Refusal](err); is { // there is an answer all the same
				fmt.Fprintln(h.Stdout, "not drawn: "+refusal.Error())
				err = nil
			}
			return first(failed, err)
		}
	}
}

// first is the first error that is one.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// draw runs the command of a chart with the flags of another command.
func (h Host) draw(chart *cobra.Command, of func(Host, *cobra.Command, []string) ([]string, error), cmd *cobra.Command, args []string) error {
	args, err := of(h, cmd, args)
	if err != nil {
		return err
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if own := chart.Flags().Lookup(f.Name); own != nil && err == nil {
			err = setAs(own, f)
		}
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(h.Stdout)
	chart.SetContext(cmd.Context())
	return chart.RunE(chart, args)
}

// setAs gives a flag the value of another one.
func setAs(own, other *pflag.Flag) error {
	list, isList := other.Value.(pflag.SliceValue)
	if ownList, both := own.Value.(pflag.SliceValue); isList && both {
		return ownList.Replace(list.GetSlice())
	}
	return own.Value.Set(other.Value.String())
}

// same are the arguments as they are.
func same(_ Host, _ *cobra.Command, args []string) ([]string, error) { return args, nil }

// ofRun is the filter for the run that show was asked for: the newest one without an argument.
func ofRun(h Host, cmd *cobra.Command, args []string) ([]string, error) {
	if len(args) > 0 && args[0] != "last" {
		return []string{"run=" + args[0]}, nil
	}
	var filter []string
	err := h.Query(cmd, func(db *query.DB) error {
		id, err := db.Quiet().Newest(cmd.Context())
		filter = []string{"run=" + id}
		return err
	})
	return filter, err
}

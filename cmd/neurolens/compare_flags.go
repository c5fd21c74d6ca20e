package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/judge"
)

// sideFlags say what is compared.
type sideFlags struct {
	Metrics, Thresholds []string
	Matrix              string
	Strict, Relative    bool
}

// Define defines them.
func (f *sideFlags) Define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.Metrics, "metric", nil, "compare metrics `NAMES` (default: the primary metric)")
	flags.StringArrayVar(&f.Thresholds, "threshold", nil, "smallest change that counts: `5%`, latency=10%, rmse=0.001; repeatable (default: 2%)")
	flags.StringVar(&f.Matrix, "matrix", "", "compare every value of an axis with one: `AXIS=VALUE`")
	flags.BoolVar(&f.Strict, "strict", false, "require a change to exceed the threshold significantly")
	flags.BoolVar(&f.Relative, "relative", true, "between sessions, also judge relative to what all points share")
}

// Request turns flags and the arguments of a command into one request.
func (f *sideFlags) Request(command string, args []string) (compare.Request, error) {
	var req compare.Request
	var err error
	if f.Metrics, err = splitMetrics(f.Metrics); err != nil {
		return req, err
	}
	req.Metrics, req.Rules.Strict, req.Absolute = f.Metrics, f.Strict, !f.Relative
	if f.Matrix != "" {
		axis, value, found := strings.Cut(f.Matrix, "=")
		if !found || axis == "" || value == "" {
			return req, fmt.Errorf("--matrix %q: want AXIS=VALUE", f.Matrix)
		}
		req.Base, req.Axis, req.Reference = filter.Arguments(args...), axis, filter.QuoteWord(value)
	} else {
		switch len(args) {
		case 2:
			req.Base, req.Head = filter.Arguments(args[0]), filter.Arguments(args[1])
		case 1:
			req.Base = filter.Arguments(args[0])
		default:
			return req, fmt.Errorf("%s: want BASE and HEAD, or one selection that has two sides, got %d arguments; quote a filter of several words", command, len(args))
		}
	}
	req.Thresholds, err = judge.ParseThresholds(f.Thresholds)
	return req, err
}

// splitMetrics are the metrics that --metric names, each once.
func splitMetrics(given []string) ([]string, error) {
	var names []string
	for _, name := range given {
		if name == "" {
			return nil, errors.New("--metric: want names of metrics, got an empty one")
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens"
	"github.com/neurolens/neurolens/query/filter"
)

type lsOptions struct {
	filter  string
	since   time.Time
	until   time.Time
	columns screens.Columns
	names   []string // of columns, as they were asked for
	sort    []string
	limit   int
	by      []string // groups, in place of runs
	best    bool
	metrics []string // in place of the primary one of each run
	like    string   // the run that runs are to be like; empty: none
}

type lsFlags struct {
	backend, model, gpu, precision string
	batch, seq                     int64
	tags                           []string
	since, day                     string
	columns, sort, by              []string
	limit                          int
	best                           bool
	metrics                        []string
	like                           string
}

// options turns flags and words into one request.
func (f *lsFlags) options(a *app, cmd *cobra.Command, args []string) (lsOptions, error) {
	o := lsOptions{filter: filter.Arguments(append([]string{filter.Arguments(args...)}, f.words(cmd)...)...), names: f.columns, sort: f.sort, limit: f.limit, by: f.by, best: f.best, like: f.like}
	switch {
	case cmd.Flags().Changed("by") && len(f.by) == 0:
		return o, usageErrorf("--by: want keys, got an empty list")
	}
	var err error
	if o.metrics, err = metricNames(f.metrics); err != nil {
		return o, err
	}
	if len(o.metrics) > 1 && (len(f.by) > 0 || f.best) {
		return o, usageErrorf("--metric %s: groups are of one metric, and the best point is by one: name one", strings.Join(o.metrics, ","))
	}
	if f.limit < 0 {
		return o, usageErrorf("--limit %d: want 0 or more", f.limit)
	}
	if len(f.by) == 0 && !f.best {
		if o.columns, err = screens.ColumnsOf(f.columns, o.metrics); err != nil {
			return o, usageError{err}
		}
	}
	for _, tag := range f.tags {
		if key, _, found := strings.Cut(tag, "="); !found || filter.QuoteWord(key) != key {
			return o, usageErrorf("--tag %q: want KEY=VALUE", tag)
		}
	}
	if f.since != "" {
		if o.since, err = filter.Time("--since", f.since, a.now()); err != nil {
			return o, err
		}
	}
	if f.day != "" {
		day, err := time.Parse(time.DateOnly, f.day)
		if err != nil {
			return o, usageErrorf("--day %q: want YYYY-MM-DD", f.day)
		}
		if day.After(o.since) {
			o.since = day
		}
		o.until = day.AddDate(0, 0, 1)
	}
	return o, nil
}

// words are the filter words that the flags stand for.
func (f *lsFlags) words(cmd *cobra.Command) []string {
	var words []string
	for _, w := range []struct{ flag, key, value string }{
		{"backend", "backend", f.backend},
		{"model", "model", f.model},
		{"gpu", "gpu_name", f.gpu},
		{"precision", "precision", f.precision},
		{"batch", "batch_size", strconv.FormatInt(f.batch, 10)},
		{"seq", "seq_len", strconv.FormatInt(f.seq, 10)},
	} {
		if cmd.Flags().Changed(w.flag) {
			words = append(words, w.key+"="+filter.QuoteWord(w.value))
		}
	}
	for _, tag := range f.tags {
		key, value, _ := strings.Cut(tag, "=")
		words = append(words, "tag."+key+"="+filter.QuoteWord(value))
	}
	return words
}

package notebook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"unicode/utf8"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figures"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/summary"
)

// subject is what a notebook is about.
type subject struct {
	program string   // that it calls
	stores  []string // absolute paths
	filter  []string // as it was typed
	plan    figures.Plan
	sampled bool // there are samples

	runs, points, sessions int
}

// read asks the stores what there is to show.
func (h Host) read(ctx context.Context, db *query.DB, args []string, metric string) (*subject, error) {
	s := &subject{filter: args}
	for _, word := range args {
		if !utf8.ValidString(word) {
			return nil, h.Wrong(fmt.Errorf("notebook: filter %q: %w", word, errUTF8))
		}
	}
	for _, store := range h.Stores() {
		path, err := filepath.Abs(store)
		if err != nil {
			return nil, fmt.Errorf("notebook: store %s: %w", store, err)
		}
		s.stores = append(s.stores, path)
	}
	var err error
	if s.program, err = program(); err != nil {
		return nil, err
	}
	text := filter.Arguments(args...)
	all, notNumbers, err := summary.Points(ctx, db, "notebook", text)
	if err != nil {
		return nil, err
	}
	h.NotNumbers(notNumbers)
	ids := map[string]bool{}
	for i := range all {
		s.runs += all[i].Runs
		ids[string(all[i].PointID)] = true
		s.sampled = s.sampled || all[i].SamplesMax != nil && *all[i].SamplesMax > 0
	}
	s.points = len(ids)
	groups, err := db.Quiet().Groups(ctx, query.GroupRequest{Filter: text, By: []string{"session_id"}, Limit: 1})
	if err != nil {
		return nil, err
	}
	s.sessions = groups.Total
	s.plan, err = figures.Maker{}.Plan(figures.Points{All: all, Metric: metric})
	if refusal, is := errors.AsType[figures.Refusal](err); is && metric != "" {
		return nil, h.Wrong(fmt.Errorf("notebook: %w", refusal))
	} else if is {
		return s, nil // all runs failed, say: the notebook has no charts
	}
	return s, err
}

// name is what this program is called where it is installed.
const name = "neurolens"

// program is what the notebook calls: this program by its name, where a shell finds it by that, else by its path.
func program() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("notebook: finding the neurolens program: %w", err)
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return own, nil
	}
	one, err := os.Stat(own)
	if err != nil {
		return own, nil
	}
	if other, err := os.Stat(found); err == nil && os.SameFile(one, other) {
		return name, nil
	}
	return own, nil
}

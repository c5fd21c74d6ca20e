package query

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema"
)

// Related has the run before a run, and how the two differ.
type Related struct {
	// Before is the id of the newest run of the same point on the same machine in an earlier session; empty: none.
	Before string
	// Changes are the facts that differ between that run (the base) and this one: columns of hardware, code and environment, most
	// important first, then env.NAME by name.
	Changes []FactDifference
	// Against is the base commit of the session, if it compared two commits; otherwise empty.
	Against string
}

// Related finds the run before a run.
func (db *DB) Related(ctx context.Context, d Detail) (Related, error) {
	var r Related
	before, err := db.runBefore(ctx, &d.Run)
	if err != nil {
		return Related{}, err
	}
	if before != nil {
		r.Before, r.Changes = before.RunID, changes(before, &d.Run)
	}
	r.Against, err = db.baseCommit(ctx, &d.Run)
	return r, err
}

// runBefore finds Related.Before. There is none if the machine, session or start of the run is unknown.
func (db *DB) runBefore(ctx context.Context, run *schema.Run) (*schema.Run, error) {
	if run.Env.Machine == "" || run.SessionID == "" || run.StartedAt.IsZero() {
		return nil, nil
	}
	otherSide := "side!=base" // the base has another commit
	if run.Side == "base" {
		otherSide = "side!=head"
	}
	words := []string{"point_id=" + filter.Quote(run.PointID), "machine=" + filter.Quote(run.Env.Machine), "session!=" + run.SessionID, otherSide}
	return db.newest(ctx, ListRequest{Filter: strings.Join(words, " "), Until: run.StartedAt}, append([]string{"run_id", "env"}, relatedFacts()...)...)
}

// relatedFacts returns the columns, in addition to env, that are compared with the run before.
func relatedFacts() []string { return FactColumns(HardwareFact, CodeFact, EnvironmentFact) }

// changes finds Related.Changes.
func changes(before, run *schema.Run) []FactDifference {
	was, is := factsOf(before), factsOf(run)
	entries := maps.Clone(was)
	maps.Copy(entries, is)
	columns := relatedFacts()
	for _, name := range columns {
		delete(entries, name)
	}
	var all []FactDifference
	for _, name := range append(columns, slices.Sorted(maps.Keys(entries))...) {
		if from, to := valueOf(was, name), valueOf(is, name); !slices.Equal(from, to) {
			all = append(all, FactDifference{Kind: FactKindOf(name), Name: name, Base: from, Head: to})
		}
	}
	return all
}

// valueOf returns the value of a fact, as a list that is empty if it is unknown.
func valueOf(all map[string]string, name string) []string {
	if value, ok := all[name]; ok {
		return []string{value}
	}
	return nil
}

// factsOf returns the values of relatedFacts and env of a run.
func factsOf(run *schema.Run) map[string]string {
	all := map[string]string{}
	row, names := answer.RunRow(run, ""), append(relatedFacts(), "env")
	for i, c := range schema.Runs.Columns {
		if slices.Contains(names, c.Name) {
			AddFact(all, c.Name, row[i])
		}
	}
	return all
}

// baseCommit returns the base commit of the session of a run, if it compared two commits.
func (db *DB) baseCommit(ctx context.Context, run *schema.Run) (string, error) {
	if run.Side == "" {
		return "", nil
	}
	base, err := db.newest(ctx, ListRequest{Filter: "side=base session=" + run.SessionID}, "git_commit")
	if err != nil || base == nil {
		return "", err
	}
	return base.Env.GitCommit, nil
}

// Newest returns the id of the run that started last; empty: there are no runs. If none of several runs has a start, or runs of several
// sessions started last, it is an ErrInput.
func (db *DB) Newest(ctx context.Context) (string, error) {
	runs, err := db.Runs(ctx, ListRequest{Limit: 2}, "run_id", "started_at", "session_id")
	if err != nil || len(runs) == 0 {
		return "", err
	}
	if newest := runs[0].StartedAt; !newest.IsZero() && len(runs) > 1 && newest.Equal(runs[1].StartedAt) {
		if runs, err = db.Runs(ctx, ListRequest{Filter: "started_at=" + newest.UTC().Format(time.RFC3339Nano)}, "run_id", "started_at", "session_id"); err != nil {
			return "", err
		}
		sessions := map[string]bool{}
		for i := range runs {
			sessions[runs[i].SessionID] = true
		}
		if len(sessions) > 1 {
			return "", answer.InputError("last: %d sessions began at the same time (%s) and have no order; ls lists their runs", len(sessions), newest.UTC().Format(time.RFC3339))
		}
	}
	if runs[0].StartedAt.IsZero() && len(runs) > 1 {
		return "", answer.InputError("last: no run has a start time; ls lists the runs, and ingest --at gives files a start time")
	}
	return runs[0].RunID, nil
}

// newest returns the newest matching run with the given columns; nil: no run matches.
func (db *DB) newest(ctx context.Context, req ListRequest, columns ...string) (*schema.Run, error) {
	req.Limit = 1
	runs, err := db.Runs(ctx, req, columns...)
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	return &runs[0], nil
}

package query

import (
	"context"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema"
)

// doneColumns are the columns of a run that Done reads.
var doneColumns = []string{
	"run_id", "session_id", "resumes", "point_id", "repeat_index", "purpose", "started_at", "status", "error_kind", "executor", "backend_version",
	"model_sha256", "machine", "driver_version", "python_version", "git_commit", "env", "log_median",
	"backend", "batch_size", "seq_len", "precision", "model", "gpu_name", "unit", "p50", "applied",
	"build_ns", "setup_ns", "warmup_ns", "measure_ns", "validate_ns", "teardown_ns", "profile_ns", "metric",
}

// Limits of Done: the number of sessions, without the earlier ones that these resumed, and the number of newest runs in which Done
// searches for them.
const (
	maxDoneSessions = 20
	maxDoneRuns     = 1_000
)

// Done returns the runs that a new session may resume: the runs of the newest sessions of some suites on a machine, and of all sessions
// that these resumed. It returns at most 20 sessions out of the newest 1,000 runs, plus the resumed ones. The newest session comes
// first, with its newest run first; sessions that are included only because they were resumed come last. Sessions with two sides are not
// included. Only these fields of a run are set: ids, repeat index, purpose, start, status, kind of error, executor, stage durations, the
// properties that a resumed session compares (versions, hashes, environment), the columns of the point except benchmark and variant, the
// applied settings, and the median of the primary metric, also as a logarithm.
func (db *DB) Done(ctx context.Context, suites []string, machine string) ([]schema.Run, error) {
	newest, err := db.Runs(ctx, ListRequest{
		Filter: "source=" + schema.SourceNeuroLens + " side=null suite=" + filter.QuoteAll(suites) + " machine=" + filter.Quote(machine), Limit: maxDoneRuns,
	}, "session_id")
	if err != nil {
		return nil, err
	}
	var sessions []string
	for i := range newest {
		if id := newest[i].SessionID; len(sessions) < maxDoneSessions && id != "" && !slices.Contains(sessions, id) {
			sessions = append(sessions, id)
		}
	}
	var all []schema.Run
	for seen := sessions; len(sessions) > 0; {
		runs, err := db.sessionRuns(ctx, sessions)
		if err != nil {
			return nil, err
		}
		all = append(all, runs...)
		sessions = nil
		for _, run := range runs {
			if run.Resumes != "" && !slices.Contains(seen, run.Resumes) {
				seen, sessions = append(seen, run.Resumes), append(sessions, run.Resumes)
			}
		}
	}
	return all, nil
}

// Campaign returns the runs of all sessions of a campaign, on any machine, the newest first. It is limited to some suites. The fields that
// Done sets are set. Sessions with two sides are not included.
func (db *DB) Campaign(ctx context.Context, suites []string, name string) ([]schema.Run, error) {
	return db.Runs(ctx, ListRequest{
		Filter: "source=" + schema.SourceNeuroLens + " side=null suite=" + filter.QuoteAll(suites) + " env." + schema.FactCampaign + "=" + filter.Quote(name),
	}, doneColumns...)
}

// sessionRuns returns the runs of sessions, session by session.
func (db *DB) sessionRuns(ctx context.Context, sessions []string) ([]schema.Run, error) {
	runs, err := db.Runs(ctx, ListRequest{Filter: "session_id=" + strings.Join(sessions, ",")}, doneColumns...)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(runs, func(a, b schema.Run) int {
		return slices.Index(sessions, a.SessionID) - slices.Index(sessions, b.SessionID)
	})
	return runs, nil
}

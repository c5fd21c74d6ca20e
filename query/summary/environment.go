package summary

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
)

// environmentColumns are the columns of runs that describe the machine, the software and the code. The host name is left out, because
// reports are passed on to others.
var environmentColumns = []string{
	"machine", "os", "os_kernel", "cpu_model", "cpu_count", "memory_bytes", "gpu_name", "gpu_count", "driver_version", "cuda_version",
	"python_version", "git_commit", "git_branch", "git_dirty", "source",
}

// environment counts the runs of the selection per value of each column of the environment.
func (r *reading) environment(ctx context.Context, s *scan.Reader) error {
	runs, err := r.runsSQL(append([]string{"session_id", "resumes", "started_at"}, environmentColumns...)...)
	if err != nil {
		return err
	}
	text := "SELECT count(*), count(DISTINCT session_id), count(resumes), epoch_us(min(started_at)), epoch_us(max(started_at))"
	for _, name := range environmentColumns {
		text += ", histogram(CAST(" + duck.Identifier(name) + " AS VARCHAR))"
	}
	row, err := s.Conn.One(ctx, duck.Statement{SQL: text + " FROM " + runs, Args: r.sel.Args})
	if err != nil {
		return err
	}
	all := int(duck.Integer(row[0]))
	r.sessions = int(duck.Integer(row[1]))
	selection := Selection{Filter: strings.TrimSpace(r.whole()), Base: Text(r.req.Base), Head: r.head(), By: r.req.By, Metrics: r.req.Metrics, Sessions: r.sessions}
	selection.Since, selection.Until = timeOf(row[3]), timeOf(row[4])
	if duck.Integer(row[2]) > 0 {
		if selection.Sessions, err = s.CountSessions(ctx, r.sel); err != nil {
			return err
		}
	}
	r.report.Selection, r.report.Environment = selection, nil
	for i, name := range environmentColumns {
		r.report.Environment = append(r.report.Environment, factOf(name, row[5+i], all))
	}
	return nil
}

// factOf makes a fact from the histogram of its values; runs is the number of all runs.
func factOf(name string, histogram any, runs int) Fact {
	f := Fact{Name: name, Unknown: runs, Values: []FactValue{}}
	values, _ := duck.Plain(histogram).(map[string]any)
	for value, n := range values {
		f.Values = append(f.Values, FactValue{value, int(duck.Integer(n))})
		f.Unknown -= int(duck.Integer(n))
	}
	slices.SortFunc(f.Values, func(a, b FactValue) int { return cmp.Or(b.Runs-a.Runs, strings.Compare(a.Value, b.Value)) })
	return f
}

// timeOf converts Unix microseconds; nil for NULL.
func timeOf(v any) *Time {
	micros, ok := v.(int64)
	if !ok {
		return nil
	}
	return &Time{time.UnixMicro(micros).UTC()}
}

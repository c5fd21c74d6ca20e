package progress

import (
	"bytes"
	"io"
	"slices"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// jsonReporter writes one JSON object a line: a session, its runs as they finish, its end. What is not known is null;
// durations are ns, values are in the stored unit beside them.
type jsonReporter struct {
	w io.Writer
	description
}

// member is a key of an object and its value.
type member struct {
	key   string
	value any
}

func (j *jsonReporter) begin(e runner.Event) {
	var seeable any
	if change, _, ok := j.seeableChange(e); ok {
		seeable = change
	}
	j.write([]member{
		{"event", "session"},
		{"session_id", e.Session},
		{"suite", j.sweep.Suite},
		{"machine", answer.Text(e.Env.Machine)},
		{"points", int64(len(j.sweep.Points))},
		{"repeats", int64(j.sweep.Repeats)},
		{"launches", int64(e.Launches)},
		{"load", answer.Value(sessionLoad(e.Env))},
		{"seeable_change", seeable},
	})
}

func (j *jsonReporter) prepare(e runner.Event) {
	switch {
	case e.Plan != nil:
		j.plan(e.Plan)
	case e.Waiting != "":
		j.write([]member{{"event", "waiting"}, {"reason", e.Waiting}})
	case e.Reference != nil:
		j.reference(e)
	case e.Unread != nil:
		j.write([]member{{"event", "unread"}, {"format", e.Unread.Format}, {"results", int64(e.Unread.Results)}})
	default:
		j.write([]member{{"event", "build"}, {"command", answer.List(e.Build)}})
	}
}

func (j *jsonReporter) plan(p *runner.Plan) {
	changes, ignored := []any{}, []any{}
	for _, c := range p.Changes {
		changes = append(changes, map[string]any{"what": c.What, "files": answer.Text(c.Files), "from": answer.Text(c.From), "to": answer.Text(c.To), "runs": int64(c.Runs)})
	}
	for _, c := range p.Ignored {
		ignored = append(ignored, map[string]any{"files": c.Files, "runs": int64(c.Runs)})
	}
	sides := []any{}
	for _, s := range p.Sides {
		sides = append(sides, map[string]any{"side": s.Name, "git_commit": answer.Text(s.Commit), "git_dirty": s.Dirty})
	}
	fails := []any{}
	for _, f := range foreseenOf(p, failsBy) {
		fails = append(fails, map[string]any{"reason": f.why, "points": int64(f.points)})
	}
	j.write([]member{
		{"event", "plan"},
		{"launches", int64(len(p.Launches))},
		{"resumes", answer.Text(p.Resumes)},
		{"done", int64(p.Done)},
		{"changes", changes},
		{"ignored", ignored},
		{"sides", sides},
		{"failing", fails},
	})
}

// reference says what outputs are compared with: a point that is being run, or a file. problem is why there is nothing to compare
// with, in a second object of a point.
func (j *jsonReporter) reference(e runner.Event) {
	var id, point any
	if e.Reference.File == "" {
		id, point = e.Launch.Point.PointID, j.point(e.Launch)
	}
	j.write([]member{
		{"event", "reference"},
		{"point_id", id},
		{"point", point},
		{"file", answer.Text(e.Reference.File)},
		{"function", answer.Text(e.Reference.Function)},
		{"problem", answer.Text(e.Reference.Problem)},
	})
}

// point returns what makes the point of a launch.
func (j *jsonReporter) point(l sweep.Launch) map[string]any {
	is, point := pointOf(l.Point), map[string]any{}
	for _, name := range append(slices.Clone(pointColumns), "params") {
		point[name] = is.Value(name)
	}
	return point
}

func (j *jsonReporter) stage(runner.Event) {}

func (j *jsonReporter) looked(e runner.Event) {
	j.write([]member{
		{"event", "look"},
		{"look", int64(e.Look.Number)},
		{"looks", int64(e.Look.Planned)},
		{"blocks", int64(e.Look.Blocks)},
		{"points", int64(e.Look.Points)},
		{"decided", int64(e.Look.Conclusive())},
	})
}

func (j *jsonReporter) finished(e runner.Event) {
	var metric, unit, median, samples, left any
	if m, s := primary(e.Run); m != nil {
		metric, unit, median = m.Name, answer.Text(m.Unit), answer.Statistic(s.P50)
		if s.N != nil {
			samples = *s.N
		}
	}
	if e.Remaining > 0 {
		left = int64(e.Remaining)
	}
	members := []member{
		{"event", "run"},
		{"index", int64(e.Index)},
		{"launches", int64(e.Launches)},
		{"run_id", e.Run.RunID},
		{"point_id", e.Launch.Point.PointID},
		{"point", j.point(e.Launch)},
		{"side", answer.Text(e.Run.Side)},
		{"purpose", answer.Text(string(e.Run.Purpose))},
		{"control", e.Launch.Point.Control},
		{"repeat_index", int64(e.Launch.Repeat)},
		{"status", string(e.Run.Status)},
		{"stage", answer.Text(string(e.Run.Stage))},
		{"error_kind", answer.Text(e.Run.ErrorKind)},
		{"error", answer.Text(e.Run.Error)},
		{"metric", metric},
		{"unit", unit},
		{"median", median},
		{"n_samples", samples},
		{"remaining_ns", left},
	}
	if len(j.metrics) > 0 {
		members = append(members, metricMember(e.Run, j.metrics))
	}
	j.write(members)
}

func (j *jsonReporter) end(result runner.Result, elapsed time.Duration) {
	statuses := map[string]any{}
	for _, status := range schema.Statuses {
		if n := result.Statuses[status]; n > 0 {
			statuses[string(status)] = int64(n)
		}
	}
	j.write([]member{
		{"event", "end"},
		{"session_id", result.Session},
		{"runs", int64(result.Runs())},
		{"statuses", statuses},
		{"elapsed_ns", int64(elapsed)},
	})
}

// write writes an object as the lines of a result are written. Progress that cannot be written ends no measurement.
func (j *jsonReporter) write(members []member) {
	var columns []answer.Column
	var row []any
	for _, m := range members {
		columns, row = append(columns, answer.Column{Name: m.key}), append(row, m.value)
	}
	var b bytes.Buffer
	if err := term.WriteLines(&b, answer.Table{Columns: columns, Rows: [][]any{row}}); err != nil {
		return
	}
	_, _ = j.w.Write(b.Bytes())
}

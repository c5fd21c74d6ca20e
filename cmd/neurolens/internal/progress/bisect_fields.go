package progress

import (
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/runner/bisect"
)

// bisectRow is what was found of a commit or a point, in a search.
type bisectRow struct {
	bisect.Finding
	search *bisect.Search
	end    bisect.End
}

// BisectRows are the answer of a search that has ended.
func BisectRows(search *bisect.Search, end bisect.End) []bisectRow {
	var rows []bisectRow
	for _, f := range search.Findings(end) {
		rows = append(rows, bisectRow{f, search, end})
	}
	return rows
}

// BisectFields are the columns of the answer.
func BisectFields() []answer.Field[bisectRow] {
	field := func(name string, t answer.Type, meaning string, of func(*bisectRow) any) answer.Field[bisectRow] {
		return answer.Field[bisectRow]{Column: answer.Column{Name: name, Type: t}, Meaning: meaning, Of: of}
	}
	text := func(name, meaning string, of func(*bisectRow) string) answer.Field[bisectRow] {
		return field(name, answer.TypeText, meaning, func(r *bisectRow) any { return answer.Text(of(r)) })
	}
	integer := func(name, meaning string, of func(*bisectRow) int) answer.Field[bisectRow] {
		return field(name, answer.TypeInteger, meaning, func(r *bisectRow) any { return int64(of(r)) })
	}
	real := func(name, meaning string, of func(*bisect.Step) float64) answer.Field[bisectRow] {
		return field(name, answer.TypeReal, meaning, func(r *bisectRow) any {
			if r.Step.Confidence == 0 { // there is no interval
				return nil
			}
			return answer.Real(of(&r.Step))
		})
	}
	return []answer.Field[bisectRow]{
		text("result", "first_changed, or candidate if several are left; for a point at which GOOD and BAD do not differ: unchanged, inconclusive or failed", func(r *bisectRow) string { return string(r.Result) }),
		text("git_commit", "the commit", func(r *bisectRow) string { return r.Commit.ID }),
		field("subject", answer.TypeText, "the first line of its message", func(r *bisectRow) any { return r.Commit.Subject }),
		text("tested", "good, bad or skip: how the commit was judged; NULL if it was not measured", func(r *bisectRow) string { return r.Step.Result }),
		text("reason", "why it was skipped", func(r *bisectRow) string { return r.Step.Reason }),
		text("point", "the point that is bisected, in words", func(r *bisectRow) string { return r.Step.Point }),
		text("point_id", "its id", func(r *bisectRow) string { return r.Step.PointID }),
		text("metric", "the metric that is compared", func(r *bisectRow) string { return r.Step.Metric }),
		text("unit", "the stored unit of the metric", func(r *bisectRow) string { return r.Step.Unit }),
		text("scale", "ratio or difference: how its values are compared", func(r *bisectRow) string { return r.Step.Scale }),
		real("change", "change from the good commit to this one: ratio minus 1 or, if the scale is difference, in the unit", func(s *bisect.Step) float64 { return s.Change }),
		real("low", "the lower end of its interval", func(s *bisect.Step) float64 { return s.Low }),
		real("high", "the upper end of its interval", func(s *bisect.Step) float64 { return s.High }),
		real("confidence", "the confidence level of the interval, as a ratio", func(s *bisect.Step) float64 { return s.Confidence }),
		integer("blocks", "how many blocks of the commit were measured", func(r *bisectRow) int { return r.Step.Blocks }),
		text("session_id", "the session in which it was measured", func(r *bisectRow) string { return r.Step.Session }),
		text("base_commit", "the good commit", func(r *bisectRow) string { return r.search.History.Good.ID }),
		integer("commits", "how many commits were searched", func(r *bisectRow) int { return len(r.search.History.Commits) }),
		integer("steps", "how many of them were tested", func(r *bisectRow) int { return len(r.search.Steps) }),
		integer("blocks_all", "how many blocks were measured in all", func(r *bisectRow) int { return r.search.Measured(r.end) }),
	}
}

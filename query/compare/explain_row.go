package compare

import (
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// ExplainRow is a piece of evidence: something that differs between the sides, or that was tested.
type ExplainRow struct {
	Rank       *int64 // nil: it did not change, or is inconclusive
	Kind       string // a Kind, or a query.FactKind
	Name       string
	Base, Head EvidenceValue
	Estimate   *EvidenceEstimate
	Unit       string
	Scale      schema.Scale
	Share      *float64
	Verdict    string          // a judge.Verdict or, for a contrast, a judge.ContrastVerdict
	P          *float64        // p-value of no difference
	Adjusted   *float64        // P adjusted for all that were tested
	Tested     int             // number of these; 0: not tested
	Contrast   *ContrastCounts // the runs of a contrast
	Alike      []string        // for a contrast: conditions on other facts that split the runs in the same way
}

// EvidenceEstimate is a change with its confidence interval, as head / base - 1 or as a difference. NaN: unknown.
type EvidenceEstimate struct{ Change, Low, High float64 }

// ContrastCounts has the numbers of runs and sessions of a contrast: see judge.Contrast.
type ContrastCounts struct {
	Within                  judge.Within
	Runs, Others            int
	Sessions, OtherSessions int // 0: the fact varies within sessions
}

// ExplainFields are the columns of the rows of an explanation.
func ExplainFields() []answer.Field[ExplainRow] {
	field := func(name string, t answer.Type, meaning string, of func(*ExplainRow) any) answer.Field[ExplainRow] {
		return answer.Field[ExplainRow]{Column: answer.Column{Name: name, Type: t}, Meaning: meaning, Of: of}
	}
	text := func(name, meaning string, of func(*ExplainRow) string) answer.Field[ExplainRow] {
		return field(name, answer.TypeText, meaning, func(r *ExplainRow) any { return answer.Text(of(r)) })
	}
	number := func(name, meaning string, of func(*ExplainRow) *float64) answer.Field[ExplainRow] {
		return field(name, answer.TypeReal, meaning, func(r *ExplainRow) any { return answer.ComputedValue(of(r)) })
	}
	estimate := func(name, meaning string, of func(*EvidenceEstimate) *float64) answer.Field[ExplainRow] {
		return number(name, meaning, func(r *ExplainRow) *float64 {
			if r.Estimate == nil {
				return nil
			}
			return of(r.Estimate)
		})
	}
	contrast := func(name string, t answer.Type, meaning string, of func(*ContrastCounts) any) answer.Field[ExplainRow] {
		return field(name, t, meaning, func(r *ExplainRow) any {
			if r.Contrast == nil {
				return nil
			}
			return of(r.Contrast)
		})
	}
	return []answer.Field[ExplainRow]{
		field("rank", answer.TypeInteger, "0 for the point itself, then from 1 the most relevant first; NULL if it did not change or is inconclusive", func(r *ExplainRow) any { return answer.Integer(r.Rank) }),
		text("kind", "what the row is about: point, status, contrast, hardware, op, code, configuration, environment, warning, metric or stage", func(r *ExplainRow) string { return r.Kind }),
		text("name", "name of the metric, fact, op and so on; for the point its id, for a contrast a condition as in a filter", func(r *ExplainRow) string { return r.Name }),
		field("base", answer.TypeText, "value on the base; for warnings, statuses and contrasts how many of its runs", func(r *ExplainRow) any { return r.Base.cell() }),
		field("head", answer.TypeText, "value on the head; for warnings, statuses and contrasts how many of its runs", func(r *ExplainRow) any { return r.Head.cell() }),
		estimate("change", "effect size: head / base - 1 or, if scale is difference, head - base; for a contrast between the runs that meet the condition and the others", func(e *EvidenceEstimate) *float64 { return &e.Change }),
		estimate("low", "lower end of its confidence interval", func(e *EvidenceEstimate) *float64 { return &e.Low }),
		estimate("high", "upper end of that interval", func(e *EvidenceEstimate) *float64 { return &e.High }),
		text("unit", "stored unit of the values", func(r *ExplainRow) string { return r.Unit }),
		text("scale", "how values are compared: ratio or difference", func(r *ExplainRow) string { return string(r.Scale) }),
		number("share", "for an op its share of the sum of the changes of all ops; it is negative if the op changed in the other direction. For a contrast its share of the change of the point", func(r *ExplainRow) *float64 { return r.Share }),
		text("verdict", "for metrics and stages the verdict, corrected for how many were tested; for a contrast explains, opposes, noise or inconclusive", func(r *ExplainRow) string { return r.Verdict }),
		number("p", "p-value: probability of a difference at least this large if nothing changed", func(r *ExplainRow) *float64 { return r.P }),
		number("p_adjusted", "p-value adjusted for how many were tested", func(r *ExplainRow) *float64 { return r.Adjusted }),
		field("tested", answer.TypeInteger, "number of metrics and stages, or of facts, that were tested", func(r *ExplainRow) any { return answer.Positive(r.Tested) }),
		contrast("within", answer.TypeText, "runs that the contrast is between: those of base, head or both", func(c *ContrastCounts) any { return string(c.Within) }),
		contrast("runs", answer.TypeInteger, "number of runs within that meet the condition of the contrast", func(c *ContrastCounts) any { return int64(c.Runs) }),
		contrast("others", answer.TypeInteger, "number of runs within that do not meet the condition of the contrast", func(c *ContrastCounts) any { return int64(c.Others) }),
		contrast("sessions", answer.TypeInteger, "number of sessions that meet the condition, if the fact changes only between sessions", func(c *ContrastCounts) any { return answer.Positive(c.Sessions) }),
		contrast("other_sessions", answer.TypeInteger, "number of sessions that do not meet the condition, if the fact changes only between sessions", func(c *ContrastCounts) any {
			if c.Sessions == 0 {
				return nil
			}
			return int64(c.OtherSessions)
		}),
		field("confounded_with", answer.TypeList, "facts that split the runs in exactly the same way: the data cannot tell which one matters", func(r *ExplainRow) any { return answer.List(r.Alike) }),
	}
}

package explain

import (
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// Row is something that is known to differ between the sides, or that was looked at.
type Row struct {
	Rank       *int64 // nil: it did not change, or is not settled
	Kind       string // a Kind, or that of a fact
	Name       string
	Base, Head Value
	Estimate   *Estimate
	Unit       string
	Scale      schema.Scale
	Share      *float64
	Verdict    string   // a judge.Verdict or, of a contrast, a judge.ContrastVerdict
	P          *float64 // of no difference
	Adjusted   *float64 // the same among all that were tested
	Tested     int      // how many these are; 0: it was not
	Contrast   *Of      // of a contrast that is within a side, or both
	Alike      []string // facts that split the runs as that of a contrast does
}

// Estimate is a change and its interval, of which ends may not be known: of the ratio less 1, or of the difference.
type Estimate struct{ Change, Low, High float64 }

// Of says of which runs a contrast is.
type Of struct {
	Within                  judge.Within
	Runs, Others            int
	Sessions, OtherSessions int // 0: the fact changes within sessions
}

// Fields are the columns of the rows of an explanation.
func Fields() []answer.Field[Row] {
	field := func(name string, t answer.Type, meaning string, of func(*Row) any) answer.Field[Row] {
		return answer.Field[Row]{Column: answer.Column{Name: name, Type: t}, Meaning: meaning, Of: of}
	}
	text := func(name, meaning string, of func(*Row) string) answer.Field[Row] {
		return field(name, answer.TypeText, meaning, func(r *Row) any { return answer.Text(of(r)) })
	}
	number := func(name, meaning string, of func(*Row) *float64) answer.Field[Row] {
		return field(name, answer.TypeReal, meaning, func(r *Row) any { return answer.ComputedValue(of(r)) })
	}
	estimate := func(name, meaning string, of func(*Estimate) *float64) answer.Field[Row] {
		return number(name, meaning, func(r *Row) *float64 {
			if r.Estimate == nil {
				return nil
			}
			return of(r.Estimate)
		})
	}
	contrast := func(name string, t answer.Type, meaning string, of func(*Of) any) answer.Field[Row] {
		return field(name, t, meaning, func(r *Row) any {
			if r.Contrast == nil {
				return nil
			}
			return of(r.Contrast)
		})
	}
	return []answer.Field[Row]{
		field("rank", answer.TypeInteger, "0 for the point itself, from 1 for what is most likely to matter, NULL for what did not change or is not settled", func(r *Row) any { return answer.Integer(r.Rank) }),
		text("kind", "what it is about", func(r *Row) string { return r.Kind }),
		text("name", "what it is; of the point its id, of a contrast a word of a filter", func(r *Row) string { return r.Name }),
		field("base", answer.TypeText, "the value of the base; of warnings, statuses and contrasts how many of its runs", func(r *Row) any { return r.Base.cell() }),
		field("head", answer.TypeText, "the same of the head", func(r *Row) any { return r.Head.cell() }),
		estimate("change", "of the ratio less 1, or of the difference, as scale says; of a contrast between the runs of its name and the others", func(e *Estimate) *float64 { return &e.Change }),
		estimate("low", "the lower end of its interval", func(e *Estimate) *float64 { return &e.Low }),
		estimate("high", "the upper end of its interval", func(e *Estimate) *float64 { return &e.High }),
		text("unit", "the stored unit of the values", func(r *Row) string { return r.Unit }),
		text("scale", "ratio or difference: how it is compared", func(r *Row) string { return string(r.Scale) }),
		number("share", "of an op: of the difference of all ops together; of a contrast: of the difference of the point", func(r *Row) *float64 { return r.Share }),
		text("verdict", "of metrics and stages, beyond chance among all of them; of a contrast what it says", func(r *Row) string { return r.Verdict }),
		number("p", "the chance of such a difference where there is none", func(r *Row) *float64 { return r.P }),
		number("p_adjusted", "the same among all that were tested", func(r *Row) *float64 { return r.Adjusted }),
		field("tested", answer.TypeInteger, "over how many metrics and stages, or facts, that is", func(r *Row) any { return answer.Positive(r.Tested) }),
		contrast("within", answer.TypeText, "base, head or both: the runs that differ", func(c *Of) any { return string(c.Within) }),
		contrast("runs", answer.TypeInteger, "how many of these are of the name", func(c *Of) any { return int64(c.Runs) }),
		contrast("others", answer.TypeInteger, "how many are not", func(c *Of) any { return int64(c.Others) }),
		contrast("sessions", answer.TypeInteger, "sessions of the name, where the fact changes from session to session alone", func(c *Of) any { return answer.Positive(c.Sessions) }),
		contrast("other_sessions", answer.TypeInteger, "sessions that are not", func(c *Of) any {
			if c.Sessions == 0 {
				return nil
			}
			return int64(c.OtherSessions)
		}),
		field("alike", answer.TypeList, "facts that split the runs in the same way, so that the name may as well be one of these", func(r *Row) any { return answer.List(r.Alike) }),
	}
}

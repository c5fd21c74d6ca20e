package scan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/query/internal/meant"
	"github.com/neurolens/neurolens/schema"
)

// Nothing is for a selection without runs: an error where the filter has what no run has and is a slip of the pen, else
// remarks that say which words match no run. It looks at all runs, which an answer that is not empty never does.
func (r *Reader) Nothing(ctx context.Context, sel Selection) error {
	if r.Conn.Remark == nil {
		return r.Check(ctx, sel.Unsure)
	}
	reasons, err := r.Reasons(ctx, sel)
	for _, text := range reasons {
		r.Conn.Remark(text)
	}
	return err
}

// Reasons are what Nothing remarks.
func (r *Reader) Reasons(ctx context.Context, sel Selection) (reasons []string, err error) {
	if err := r.Check(ctx, sel.Unsure); err != nil {
		return nil, err
	}
	if len(sel.Words) == 0 || len(r.Src.Live) == 0 && len(r.Src.Read) == 0 {
		return nil, nil
	}
	columns := []string{"true"}
	for _, w := range sel.Words {
		columns = append(columns, "coalesce(bool_or("+w.SQL+"), false)")
	}
	row, err := r.Conn.One(ctx, duck.Statement{SQL: "SELECT " + strings.Join(columns, ", ") + " FROM " + r.Src.Scan(sel.Columns, ""), Args: sel.Args[:sel.WordArgs]})
	if err != nil {
		return nil, err
	}
	each := true
	for i, w := range sel.Words {
		if row[1+i] == true {
			continue
		}
		if each = false; !w.Wants {
			continue
		}
		text, err := r.whyNot(ctx, w)
		if err != nil {
			return nil, err
		}
		reasons = append(reasons, text)
	}
	if each && len(sel.Words) > 1 {
		reasons = append(reasons, "each word of the filter matches some run, but none matches as a whole")
	}
	return reasons, nil
}

// remarkAbsent remarks values of a short list that no run has: the runs that have the others would hide a slip of the pen. Of a list
// without any run, Nothing speaks.
func (r *Reader) remarkAbsent(ctx context.Context, words []filter.CompiledWord) error {
	const short = 8 // values, each of which is looked for in all runs
	for _, w := range words {
		if r.Conn.Remark == nil || !w.Wants || w.Op != "=" || len(w.Values) < 2 || len(w.Values) > short {
			continue
		}
		var absent []string
		for _, v := range w.Values {
			one, err := r.Selected(ctx, Question{Filter: w.Key + "=" + filter.QuoteWord(v.Text)})
			if err != nil {
				return err
			}
			reasons, err := r.Reasons(ctx, one)
			if err != nil && !errors.Is(err, fault.ErrInput) { // of a key that no run has: the whole filter says so
				return err
			}
			absent = append(absent, reasons...)
		}
		if len(absent) < len(w.Values) {
			for _, text := range absent {
				r.Conn.Remark(text)
			}
		}
	}
	return nil
}

// whyNot says why a word matches no run, with the key or value that was probably meant.
func (r *Reader) whyNot(ctx context.Context, w filter.CompiledWord) (string, error) {
	key, shown := w.Key, fault.Brief(w.Text)
	switch {
	case key == filter.KeySession && countsFromLast(w.Values):
		return shown + ": there are not so many sessions", nil
	case key == filter.KeySession && strings.HasPrefix(strings.ToLower(w.Values[0].Text), "la"):
		return shown + ": no session has an id that begins or ends so; session=last is the newest, session=last~1 the one before", nil
	case key == filter.KeyRun, key == filter.KeySession:
		return fmt.Sprintf("%s: no %s has an id that begins or ends so", shown, key), nil
	case key == filter.KeyCommit:
		return r.noCommit(ctx, shown)
	case w.Field.Entry != "":
		names, err := r.Texts(ctx, "unnest(map_keys("+duck.Identifier(w.Field.Column.Name)+"))", w.Field.Column.Name)
		if err != nil {
			return "", err
		}
		if !slices.Contains(names, w.Field.Entry) {
			return meant.NoEntry(w, names), nil
		}
	}
	text := "no run matches " + shown
	if c, stored := schema.Runs.Column(w.Field.Column.Name); stored && w.Field.Entry+w.Field.Metric == "" {
		row, err := r.Conn.One(ctx, duck.Statement{SQL: "SELECT count(" + duck.Identifier(c.Name) + ") FROM " + r.Src.Scan([]*schema.Column{c}, "")})
		if err != nil || duck.Integer(row[0]) == 0 {
			return text + "; none has a value of " + key, err
		}
	}
	if w.Field.Column.Name == "status" && slices.Contains([]string{"failed", "failure", "fail"}, w.Values[0].Text) {
		return text + "; status!=ok is every run that did not end well", nil
	}
	if w.Op != "=" || w.Field.Kind() != schema.KindString {
		return text, nil
	}
	x := duck.Identifier(w.Field.Column.Name)
	if w.Field.Entry != "" {
		x += "[" + duck.Literal(w.Field.Entry) + "]"
	}
	values, err := r.Texts(ctx, x, w.Field.Column.Name)
	if err != nil {
		return "", err
	}
	return text + meant.Value(w.Values[0].Text, values), nil
}

// noCommit says that no run has a commit, with those that runs have where they are few.
func (r *Reader) noCommit(ctx context.Context, shown string) (string, error) {
	commits, err := r.Texts(ctx, "git_commit", "git_commit")
	if err != nil {
		return "", err
	}
	if len(commits) == 0 {
		return shown + ": no run has a commit that begins so, and none has a commit at all", nil
	}
	const short = 7
	for i, c := range commits {
		commits[i] = c[:min(short, len(c))]
	}
	return shown + ": no run has a commit that begins so" + meant.Few(commits), nil
}

// countsFromLast tells whether a session is named by how many came after it.
func countsFromLast(values []filter.Value) bool {
	return slices.ContainsFunc(values, func(v filter.Value) bool { _, ok := filter.LastButN(v.Text); return ok })
}

package filter

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// NoConditionError is a word of a filter without an operator. It is an ErrInput.
type NoConditionError struct {
	Word   string
	Offset int
	Hint   string // what was probably meant; empty: unknown
}

func (e *NoConditionError) Error() string {
	hint := e.Hint
	if hint == "" {
		hint = e.example()
	}
	return ErrorAt(e.Word, e.Offset, "%s", hint).Error()
}

func (e *NoConditionError) Is(target error) bool { return target == answer.ErrInput }

// Names reports whether the word is a known key whose value is missing.
func (e *NoConditionError) Names() bool { return !FieldOf(e.Word).Bare }

// example returns a hint that shows how to write a condition.
func (e *NoConditionError) example() string {
	word := answer.Brief(e.Word)
	f := FieldOf(e.Word)
	if key, value, found := strings.Cut(word, ":"); found && key != "" && value != "" {
		return fmt.Sprintf("want KEY=VALUE; did you mean %s=%s?", key, value)
	}
	if _, _, known := schema.StoredUnit(e.Word); known && e.Offset > 0 {
		return "a unit follows its number without a space, as in 'p99<1ms'"
	}
	switch extension := path.Ext(e.Word); {
	case e.Word == "|", e.Word == "&":
		return "did you mean " + map[string]string{"|": "or", "&": "and"}[e.Word] + "?"
	case slices.Contains([]string{".yaml", ".yml", ".py", ".onnx"}, extension):
		return "want KEY=VALUE; neurolens bench " + word + " measures it"
	case slices.Contains([]string{".json", ".jsonl", ".csv", ".txt"}, extension):
		return "want KEY=VALUE; neurolens ingest " + word + " stores its results"
	case strings.Contains(e.Word, "/") || e.Word == "runs_store":
		return "want KEY=VALUE; --store " + word + " names a store"
	case e.Word == "HEAD" || e.Word == "main" || e.Word == "master":
		return "want KEY=VALUE; commit=9f3c1d2 selects the runs of that commit"
	}
	const missing = "the comparison is missing; the shell interprets < and >, so quote it: "
	switch k := f.Kind(); {
	case f.Bare:
		return "want KEY=VALUE, as in batch_size=8"
	case f.Column.Unit == schema.UnitOfRow:
		return missing + "'" + word + "<2ms'"
	case k == schema.KindInt, k == schema.KindReal:
		return missing + "'" + word + ">=2'"
	case k == schema.KindTime:
		return missing + "'" + word + ">=2026-11-01'"
	}
	return "a value is missing, as in " + word + "=VALUE"
}

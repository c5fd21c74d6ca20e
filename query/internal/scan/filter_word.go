package scan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// meant adds, to the error about a word without an operator, the condition that was probably meant.
func (r *Reader) meant(ctx context.Context, err error) error {
	var no *filter.NoConditionError
	if !errors.As(err, &no) || no.Names() || r.Src.Runs() == 0 {
		return err
	}
	condition, failed := r.conditionOf(ctx, no.Word)
	if failed != nil {
		return failed
	}
	if condition != "" {
		no.Hint = fmt.Sprintf("want KEY=VALUE; did you mean %s?", condition)
	}
	return err
}

// wordColumns are the columns in which a word without a key is searched, in this order.
var wordColumns = []string{"status", "precision", "suite", "benchmark", "variant", "backend", "model", "machine", "gpu_name", "metric", "side", "purpose", "source"}

// conditionOf is the condition that a word probably means: a value of a column, parameter or tag, an id, or a value with a similar
// spelling.
func (r *Reader) conditionOf(ctx context.Context, word string) (string, error) {
	if _, ok := filter.LastButN(word); ok {
		return filter.KeySession + "=" + word, nil
	}
	near := ""
	for _, name := range wordColumns {
		values, err := r.Texts(ctx, duck.Identifier(name), name)
		if err != nil {
			return "", err
		}
		texts := []string{word}
		if canonical, err := schema.CanonicalPrecision(word); err == nil && name == "precision" {
			texts = append(texts, canonical)
		}
		for _, text := range texts {
			if slices.Contains(values, text) {
				return name + "=" + filter.QuoteWord(word), nil
			}
		}
		if like := Nearest(word, values); like != "" && near == "" {
			near = name + "=" + answer.Brief(filter.QuoteWord(like))
		}
	}
	for _, column := range []string{"params", "tags"} {
		entries, err := r.Texts(ctx, "unnest(list_transform(map_entries("+column+"), lambda e: e.value || chr(0) || e.key))", column)
		if err != nil {
			return "", err
		}
		for _, entry := range entries {
			switch value, key, _ := strings.Cut(entry, "\x00"); {
			case value != word:
			case column == "params":
				return filter.ParameterKey(key) + "=" + filter.QuoteWord(word), nil
			default:
				return filter.PrefixOf(column) + "." + key + "=" + filter.QuoteWord(word), nil
			}
		}
	}
	const minID = 6                                                                                        // letters of an id
	for key, column := range map[string]string{filter.KeyRun: "run_id", filter.KeySession: "session_id"} { // ids are of either
		if len(word) < minID {
			break
		}
		if ids, err := r.like(ctx, likeness{what: key + "s", column: column, text: word}); err == nil && len(ids) == 1 {
			return key + "=" + word, nil
		}
	}
	return r.metricMeant(ctx, word, near)
}

// metricMeant is the condition for the name of a metric, otherwise near.
func (r *Reader) metricMeant(ctx context.Context, word, near string) (string, error) {
	_, known := schema.KindOfMetric(word)
	names, err := r.newest(hintRuns).Metrics(ctx)
	if err == nil && (known || slices.Contains(names, word)) {
		return "metric=" + word, nil
	}
	return near, err
}

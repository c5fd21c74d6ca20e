package filter

import (
	"errors"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// Arguments is the filter that the arguments of a command line make together. A run has to match each of them, so that an or
// inside of one reaches no further; an or that is an argument by itself joins what stands before and after it. In an argument
// that is no filter, what follows the operator is one value, as in variant=sort -n big.txt, for a shell took its quotes away.
func Arguments(args ...string) string {
	words := make([]string, 0, len(args))
	for _, arg := range args {
		if strings.TrimSpace(arg) != "" {
			words = append(words, argument(arg))
		}
	}
	return strings.Join(words, " ")
}

func argument(arg string) string {
	n, err := parseFilter(arg)
	var bare *NoConditionError
	switch {
	case err == nil && n != nil && n.kind == tokenOr:
		return "(" + arg + ")"
	case errors.As(err, &bare):
		return oneValue(arg)
	}
	return arg
}

// oneValue is KEY=VALUE with a value of several words as a filter has it: in quotes. Other texts stay as they are, also those
// that should have a number or a time, as 'p99<1 ms'.
func oneValue(arg string) string {
	l := lexer{text: arg}
	var w Word
	if _, err := l.key(&w); err != nil || w.Key == "" || w.Op == "" {
		return arg
	}
	if f := FieldOf(w.Key); strings.ContainsAny(w.Op, "<>") || !f.Bare && f.Kind() != schema.KindString {
		return arg
	}
	return arg[:l.at] + Quote(strings.TrimSpace(arg[l.at:]))
}

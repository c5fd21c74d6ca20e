package filter

import (
	"errors"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// JoinArguments combines the arguments of a command line into one filter. A run has to match every argument; an "or" inside an argument
// does not extend beyond it, and an "or" that is an argument by itself joins its neighbours. If an argument is not a valid filter,
// everything after its operator is one value, as in variant=sort -n big.txt, because the shell has removed its quotes.
func JoinArguments(args ...string) string {
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

// oneValue quotes the value of KEY=VALUE, so that it may have spaces. Other texts are returned unchanged, including those whose
// key needs a number or a time, such as 'p99<1 ms'.
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

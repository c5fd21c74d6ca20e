package summary

import "strings"

// FoldName shortens the name of a kernel of C++: template arguments become <…>, and its result and parameters are left out, so that
// "void at::native::reduce<512, 1, Op<float>>(Op<float>)" is "at::native::reduce<…>". Other names, and names whose brackets do not match,
// stay as they are, and so do functions of Python, where <module> and <locals> are names.
func FoldName(name string) string {
	if strings.Contains(name, "<module>") || strings.Contains(name, "<locals>") || strings.Contains(name, "<lambda>") || strings.Contains(name, "comp>") || strings.Contains(name, "<genexpr>") {
		return name
	}
	short := name
	if open := parameters(name); open > 0 {
		short = strings.TrimPrefix(name[:open], "void ")
	}
	var folded strings.Builder
	depth := 0
	for i, c := range short {
		switch {
		case c == '<' && !strings.HasSuffix(short[:i], "operator") && !strings.HasSuffix(short[:i], "operator<"):
			if depth++; depth == 1 {
				folded.WriteString("<…>")
			}
		case c == '>' && depth > 0 && !strings.HasSuffix(short[:i], "-"):
			depth--
		case depth == 0:
			folded.WriteRune(c)
		}
	}
	if depth > 0 || folded.Len() == 0 {
		return name
	}
	return folded.String()
}

// parameters returns where the list of parameters of a function begins, at whose end the name ends; -1: the name has none. A parenthesis
// behind a space is no such list: "Conv (node 3)".
func parameters(name string) int {
	if !strings.HasSuffix(name, ")") {
		return -1
	}
	depth := 0
	for i := len(name) - 1; i > 0; i-- {
		switch name[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				if name[i-1] == ' ' {
					return -1
				}
				return i
			}
		}
	}
	return -1
}

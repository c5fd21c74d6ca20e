package sweep

import (
	"strings"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// maxPython bounds a Python expression that is translated.
const maxPython = 1000

// pythonTerms are the terms of Python that have an equal in an expression of a sweep, each with that. $1 and $2 are its groups.
var pythonTerms = []struct {
	*regexp.Regexp
	equal string
}{
	{regexp.MustCompile(`^torch\.cuda\.is_available\(\)`), "(gpu.count > 0)"},
	{regexp.MustCompile(`^torch\.cuda\.device_count\(\)\s*(==|!=|<=|>=|<|>)\s*([0-9]{1,6})\b`), "(gpu.count $1 $2)"},
	{regexp.MustCompile(`^os\.cpu_count\(\)\s*(==|!=|<=|>=|<|>)\s*([0-9]{1,6})\b`), "(cpu.count $1 $2)"},
	{regexp.MustCompile(`^torch\.backends\.mps\.is_available\(\)`), `(os == "darwin" and arch == "arm64")`},
	{regexp.MustCompile(`^sys\.platform\s*(==|!=)\s*["'](linux|darwin|win32|cygwin)["']`), `(os $1 "$2")`},
	{regexp.MustCompile(`^sys\.platform\.startswith\(\s*["'](linux|darwin|win)["']\s*\)`), `(os == "$1")`},
	{regexp.MustCompile(`^platform\.system\(\)\s*(==|!=)\s*["']Linux["']`), `(os $1 "linux")`},
	{regexp.MustCompile(`^platform\.system\(\)\s*(==|!=)\s*["']Darwin["']`), `(os $1 "darwin")`},
	{regexp.MustCompile(`^platform\.system\(\)\s*(==|!=)\s*["']Windows["']`), `(os $1 "windows")`},
	{regexp.MustCompile(`^platform\.machine\(\)\s*(==|!=)\s*["']x86_64["']`), `(arch $1 "amd64")`},
	{regexp.MustCompile(`^True\b`), "true"},
	{regexp.MustCompile(`^False\b`), "false"},
	{regexp.MustCompile(`^(and|or|not)\b`), "$1"},
	{regexp.MustCompile(`^([()])`), "$1"},
}

// ofPython translates a Python expression, which nothing executes; false if the meaning of a term is not known.
func ofPython(text string) (expression string, known bool) {
	if len(text) > maxPython {
		return "", false
	}
	var terms []string
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		size := 0
		for _, term := range pythonTerms {
			if found := term.FindString(rest); found != "" {
				terms, size = append(terms, term.ReplaceAllString(found, term.equal)), len(found)
				break
			}
		}
		if size == 0 {
			return "", false
		}
		rest = rest[size:]
	}
	return "(" + strings.Join(terms, " ") + ")", len(terms) > 0
}

package runner

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestProtocolHasEveryWord: the words by which people select runs, the kinds of error and the warnings, are all listed.
func TestProtocolHasEveryWord(t *testing.T) {
	text := valuetest.Must(os.ReadFile("PROTOCOL.md"))
	_, list, found := strings.Cut(string(text), "\n## Words\n")
	if list, _, _ = strings.Cut(list, "\n## "); !found {
		t.Fatal("no section on words")
	}
	words := slices.Concat(goWords(t), pythonWords(t))
	for _, word := range words {
		if !strings.Contains(list, "`"+word+"`") {
			t.Errorf("%s is not there", word)
		}
	}
	for _, word := range []string{"not_on_side", "precision", "python", "raise", "left_running", "drift", "oom", "skip", "absent"} {
		if !slices.Contains(words, word) {
			t.Errorf("%s was not found in the code", word)
		}
	}
}

// goWords returns the texts of the constants Warn..., Kind... and kind..., and what is given to refuse as a kind.
func goWords(t *testing.T) (words []string) {
	t.Helper()
	for _, pattern := range []string{"*.go", "*/*.go", "../schema/stat/*.go"} {
		for _, name := range valuetest.Must(filepath.Glob(pattern)) {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file := valuetest.Must(parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution))
			ast.Inspect(file, func(n ast.Node) bool {
				words = append(words, wordsOf(n)...)
				return true
			})
		}
	}
	return words
}

var wordName = regexp.MustCompile(`^(Warn|[Kk]ind)[A-Z]`)

// wordsOf returns the words that a declaration or a call has itself.
func wordsOf(n ast.Node) (words []string) {
	var from []ast.Expr
	switch n := n.(type) {
	case *ast.ValueSpec:
		if wordName.MatchString(n.Names[0].Name) {
			from = n.Values
		}
	case *ast.CallExpr:
		if name, ok := n.Fun.(*ast.SelectorExpr); ok && name.Sel.Name == "refuse" && len(n.Args) > 1 {
			from = n.Args[1:2]
		}
	}
	for _, e := range from {
		if literal, ok := e.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			word, _ := strconv.Unquote(literal.Value)
			words = append(words, word)
		}
	}
	return words
}

// pythonWord finds what is given to an exception, and what a function makes the kind of one: the attribute of a class is none.
var pythonWord = regexp.MustCompile(`(?:Failure|Unsupported|Skipped|warning)\("(\w+)"[,)]| {8}kind(?:, message)? = "(\w+)"|return "(\w+)", one_line`)

// pythonWords returns what a Python worker gives as a kind or as a warning.
func pythonWords(t *testing.T) (words []string) {
	t.Helper()
	for _, name := range valuetest.Must(filepath.Glob("python/*.py")) {
		text := valuetest.Must(os.ReadFile(name))
		for _, m := range pythonWord.FindAllStringSubmatch(string(text), -1) {
			if word := m[1] + m[2] + m[3]; word != "ticks" { // of a metric
				words = append(words, word)
			}
		}
	}
	return words
}

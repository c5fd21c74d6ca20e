package help

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/docs"
	"github.com/neurolens/neurolens/schema"
)

// TestVerdictsPage: the page about verdicts has every verdict, reason and flag of the code, and no others.
func TestVerdictsPage(t *testing.T) {
	page, err := docs.Pages.ReadFile(verdictsPage)
	ok(t, err)
	listed := map[string][]string{}
	for _, row := range rowsOf(string(page)) {
		if len(row.cells) != 3 || slices.Contains(row.cells, "") {
			t.Errorf("%s has a row %q: want a word, what decides it, and what to do", row.heading, row.cells)
		}
		listed[row.heading] = append(listed[row.heading], row.cells[0])
	}
	judged := constants(t, "judge")
	for heading, want := range map[string][]string{
		"Verdicts of compare": slices.Concat(judged["Verdict"], constants(t, "compare")["judge.Verdict"]),
		"Reasons of compare":  slices.Concat(judged["Reason"], constants(t, "compare")["judge.Reason"]),
		"Flags of compare":    constants(t, "compare")["flag"],
		"Verdicts of history": append(constants(t, "history")["judge.Verdict"], "regressed", "improved", "changed", "inconclusive"),
		"Verdicts of explain": judged["ContrastVerdict"],
		"Statuses":            texts(schema.Statuses),
	} {
		got := listed[heading]
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || len(want) < 4 {
			t.Errorf("docs/%s: %s has %q, want %q", verdictsPage, heading, got, want)
		}
		delete(listed, heading)
	}
	if len(listed) > 0 {
		t.Errorf("docs/%s has %v besides", verdictsPage, listed)
	}
}

// constants returns the texts that a package of query names, by their types; those without one by the word that their names begin with.
func constants(t *testing.T, pkg string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "query", pkg, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(pkg, err)
	}
	all := map[string][]string{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		ok(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), path, text, 0)
		ok(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, is := n.(*ast.ValueSpec); is && len(spec.Values) == 1 {
				if value, is := spec.Values[0].(*ast.BasicLit); is && value.Kind == token.STRING {
					if word, err := strconv.Unquote(value.Value); err == nil {
						all[kindOf(spec)] = append(all[kindOf(spec)], word)
					}
				}
			}
			return true
		})
	}
	return all
}

func kindOf(spec *ast.ValueSpec) string {
	switch of := spec.Type.(type) {
	case *ast.Ident:
		return of.Name
	case *ast.SelectorExpr:
		return of.X.(*ast.Ident).Name + "." + of.Sel.Name
	}
	if strings.HasPrefix(strings.ToLower(spec.Names[0].Name), "flag") {
		return "flag"
	}
	return ""
}

func texts(statuses []schema.Status) (all []string) {
	for _, s := range statuses {
		all = append(all, string(s))
	}
	return all
}

// TestWords: whatever a shell offers is explained.
func TestWords(t *testing.T) {
	all := words()
	for _, word := range all {
		if text, err := explained(word, 80); err != nil || strings.Count(text, "\n") < 2 {
			t.Errorf("%s: %q, %v", word, text, err)
		}
	}
	for _, want := range []string{"drift", "regressed", "few_runs", "p99", "ttft", "steady_index", "duration_ns", "skip_if", "MAD", "gate", "axis", "base", "head", "differ", "alike"} {
		if !slices.Contains(all, want) {
			t.Errorf("%s is no word", want)
		}
	}
}

// TestHeadings: every heading of a table is explained, with the offset of its times or another confidence level too.
func TestHeadings(t *testing.T) {
	headings := []string{"WHEN +01:00", "SINCE UTC", "99.55 %", ">99.99 %", "± 95 %", "RUNS × N", "SESSIONS", "COMMITS"}
	for _, folder := range []string{"..", "../views", "../progress", "../report", "../term", "../.."} {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		ok(t, err)
		for _, path := range files {
			if !strings.HasSuffix(path, "_test.go") {
				headings = append(headings, headingsIn(t, path)...)
			}
		}
	}
	if len(headings) < 150 {
		t.Errorf("%d headings were found in the code", len(headings))
	}
	slices.Sort(headings)
	for _, heading := range slices.Compact(headings) {
		if text, err := explained(strings.ToLower(heading), 80); text == "" || err != nil {
			t.Errorf("neurolens help %q explains nothing (%v): add the heading to docs/%s", heading, err, glossaryPage)
		}
	}
}

// headingsIn returns the headings that a file of the program has: the texts of the fields Header of literals, of calls of column in results.go,
// of lists over which header ranges, and of the tables AxisHeaders, headOf and precisionHeader. Of a text to which something is
// added it is the beginning.
func headingsIn(t *testing.T, path string) (all []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	ok(t, err)
	add := func(expression ast.Expr) {
		for sum, is := expression.(*ast.BinaryExpr); is; sum, is = expression.(*ast.BinaryExpr) {
			expression = sum.X
		}
		ast.Inspect(expression, func(n ast.Node) bool {
			if text, is := n.(*ast.BasicLit); is && text.Kind == token.STRING {
				heading, err := strconv.Unquote(text.Value)
				ok(t, err)
				if heading = strings.TrimSpace(heading); heading != "" {
					all = append(all, heading)
				}
				return false
			}
			_, call := n.(*ast.CallExpr)
			return !call
		})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if key, is := n.Key.(*ast.Ident); is && key.Name == "Header" {
				add(n.Value)
			}
		case *ast.CallExpr:
			if name, is := n.Fun.(*ast.Ident); is && name.Name == "column" && len(n.Args) > 1 && strings.HasSuffix(path, "results.go") {
				add(n.Args[0])
			}
		case *ast.ValueSpec:
			if name := n.Names[0].Name; len(n.Values) == 1 && (name == "AxisHeaders" || name == "headOf" || name == "precisionHeader") {
				for _, value := range valuesOf(n.Values[0]) {
					add(value)
				}
			}
		case *ast.RangeStmt:
			if name, is := n.Value.(*ast.Ident); is && name.Name == "header" {
				add(n.X)
			}
		}
		return true
	})
	return all
}

// valuesOf returns the values of a literal of a map, or an expression itself.
func valuesOf(e ast.Expr) (values []ast.Expr) {
	literal, is := e.(*ast.CompositeLit)
	if !is {
		return []ast.Expr{e}
	}
	for _, element := range literal.Elts {
		if pair, is := element.(*ast.KeyValueExpr); is {
			values = append(values, pair.Value)
		}
	}
	return values
}

// TestExplained: keys of sweep files and terms of the glossary are explained, in any case, also a term of several words.
func TestExplained(t *testing.T) {
	for word, want := range map[string]string{
		"skip_if":              "skip_if (key of sweep files)\n",
		"mad":                  "mad (glossary)\n    Median absolute deviation",
		"head":                 "head (glossary)\n    The two sides of a comparison",
		"below floor":          "below floor (glossary)\n    The reason why a run has no peak_memory",
		"false discovery rate": "false discovery rate (glossary)\n    The share",
	} {
		if text, err := explained(word, 80); err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %q, %v; want %q", word, text, err, want)
		}
	}
}

// TestHelpHelp: the page about help ends with the topics.
func TestHelpHelp(t *testing.T) {
	if text, err := shown([]string{"help"}, 80); err != nil || !strings.Contains(text, "\n  glossary ") {
		t.Errorf("no list of topics: %v\n%s", err, text)
	}
}

func TestOffered(t *testing.T) {
	root, store := &cobra.Command{Use: "neurolens"}, &cobra.Command{Use: "store", Run: func(*cobra.Command, []string) {}}
	root.AddCommand(store)
	store.AddCommand(&cobra.Command{Use: "info", Run: func(*cobra.Command, []string) {}})
	for _, c := range []struct {
		args        []string
		typed, want string
	}{
		{nil, "sto", "store store_id stored stored_bytes stores"},
		{nil, "regr", "regressed"},
		{nil, "fil", "file file_changed files filters"},
		{[]string{"store"}, "", "info"},
		{[]string{"store"}, "x", ""},
		{[]string{"nosuch"}, "", ""},
	} {
		if got := strings.Join(offered(root, c.args, c.typed), " "); got != c.want {
			t.Errorf("help %v %s: %q, want %q", c.args, c.typed, got, c.want)
		}
	}
	if got := offered(root, nil, ""); !slices.Contains(got, "store") || !slices.Contains(got, "sql") || slices.Contains(got, "p99") {
		t.Errorf("help: %q", got)
	}
}

package judge_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// validatedBy begins the line of VALIDATION.md that has the sum of the code for which the page was made.
const validatedBy = "Sum of the code: "

// TestValidated: whoever changes a rule draws the tables of VALIDATION.md again. Drawing all takes too long for every check, so the
// page names the code that it is of, and this test compares.
func TestValidated(t *testing.T) {
	t.Parallel()
	sum := sha256.New()
	for _, dir := range []string{".", "../../schema/stat"} {
		addCode(t, sum, dir)
	}
	line := validatedBy + "`" + hex.EncodeToString(sum.Sum(nil)[:8]) + "`"
	text, err := os.ReadFile("VALIDATION.md")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), line) {
		return
	}
	if !*update || !torture() || os.Getenv("NEUROLENS_SAMPLES") == "" {
		t.Fatalf("VALIDATION.md was made for other code; draw it again: NEUROLENS_TORTURE=1 NEUROLENS_SAMPLES=... go test ./query/judge -timeout 90m -update (now it is %s)", line)
	}
	writeTable(t, validatedBy, []string{line})
}

// addCode adds the words of the Go files of a folder to a sum, without tests, comments and spaces.
func addCode(t *testing.T, sum io.Writer, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var words scanner.Scanner
		words.Init(token.NewFileSet().AddFile(name, -1, len(text)), text, nil, 0)
		for {
			_, kind, literal := words.Scan()
			if kind == token.EOF {
				break
			}
			fmt.Fprintf(sum, "%s %s\n", kind, literal)
		}
	}
}

package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
)

// What a user meets is explained on a page. These tests hold the pages to the code: flags TestReference, keys of sweeps
// TestSweepsPageKeys, keys of neurolens.yaml TestProjectsPage, columns TestColumns and TestFormatListsEveryColumn, warnings
// TestWarningsPage, verdicts and reasons TestVerdictsPage, and the rest is below.

// TestExitCodesPage: the page has the exit statuses of the program, and no other.
func TestExitCodesPage(t *testing.T) {
	t.Parallel()
	var listed []int
	for _, row := range regexp.MustCompile(`(?m)^\| ([0-9, ]+) \|`).FindAllStringSubmatch(ofRepository(t, "docs/exit-codes.md"), -1) {
		for number := range strings.SplitSeq(row[1], ", ") {
			code, err := strconv.Atoi(number)
			if err != nil {
				t.Fatal(err)
			}
			listed = append(listed, code)
		}
	}
	// 130 and 143 are those of a process that SIGINT and SIGTERM end.
	want := []int{exitOK, exitRegression, exitInput, exitInconclusive, exitRunsFailed, exitStore, exitOther, 130, 143, exitPipe}
	slices.Sort(want)
	slices.Sort(listed)
	if !slices.Equal(listed, want) {
		t.Errorf("docs/exit-codes.md has %v, the program %v", listed, want)
	}
}

// TestVariablesPage: the page names every variable of the environment that the program asks for.
func TestVariablesPage(t *testing.T) {
	t.Parallel()
	page := ofRepository(t, "docs/variables.md")
	// Those by which processes of the program, and its tests and benchmarks, speak to each other are no settings.
	internal := regexp.MustCompile(`^NEUROLENS_(WORKTREE_.*|LONG|TORTURE|TEST_.*)$`)
	seen := 0
	for file, text := range readCode(t) {
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || strings.Contains(file, "runtest") {
			continue
		}
		for _, name := range regexp.MustCompile(`"(NEUROLENS_[A-Z_]+)"`).FindAllStringSubmatch(text, -1) {
			if internal.MatchString(name[1]) {
				continue
			}
			seen++
			if !strings.Contains(page, "`"+name[1]+"`") {
				t.Errorf("docs/variables.md does not explain %s, which %s asks for", name[1], file)
			}
		}
	}
	if seen < 8 {
		t.Errorf("%d variables are asked for", seen)
	}
}

// TestFormatsNamed: the page of formats and the help of --format name every format.
func TestFormatsNamed(t *testing.T) {
	t.Parallel()
	page := ofRepository(t, "docs/formats.md")
	for _, format := range output.Formats {
		if !strings.Contains(page, "`"+format+"`") {
			t.Errorf("docs/formats.md does not name %s", format)
		}
	}
	if usage := rootCommand(t).PersistentFlags().Lookup("format").Usage; !strings.Contains(usage, strings.Join(output.Formats, " ")) {
		t.Errorf("--format is explained by %q, and the formats are %v", usage, output.Formats)
	}
}

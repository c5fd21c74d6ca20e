package main

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestManualNames: every manual page that a page names is written.
func TestManualNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programtest.Output(t, dir, "help", "--man", dir)
	mentioned := regexp.MustCompile(`\bman (?:-M \S+ )?(?:([1-9]) )?(neurolens[a-z-]*)`)
	seen := 0
	for _, name := range append(docsPages(t), otherPages(t)...) {
		for _, m := range mentioned.FindAllStringSubmatch(programtest.RepositoryFile(t, name), -1) {
			seen++
			section := cmp.Or(m[1], "[1-9]")
			if found, err := filepath.Glob(filepath.Join(dir, "man"+section, m[2]+"."+section)); err != nil || len(found) == 0 {
				t.Errorf("%s names the manual page %q, which help --man does not write: %v", name, m[0], err)
			}
		}
	}
	if seen < 3 {
		t.Errorf("the pages name %d manual pages", seen)
	}
}

// TestManual: the manual has a page for every command, with all its flags, and for every page of docs that is a topic; and what man
// formats pages with has nothing to complain about.
func TestManual(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var out, errs bytes.Buffer
	a := &app{stdout: &out, stderr: &errs, getenv: os.Getenv, now: time.Now}
	valuetest.Equal(t, a.run([]string{"help", "--man", dir}), exitOK, "exit", errs.String())
	pages, err := filepath.Glob(filepath.Join(dir, "man?", "*"))
	if err != nil || len(pages) < 50 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	want := []string{filepath.Join(dir, "man1", "neurolens-help.1")}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		path := filepath.Join(dir, "man1", strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1")
		want = append(want, path)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			return
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !bytes.Contains(text, []byte(`\-\-`+strings.ReplaceAll(f.Name, "-", `\-`)+`\fP`)) {
				t.Errorf("%s does not have --%s", path, f.Name)
			}
		})
		for _, below := range cmd.Commands() {
			visit(below)
		}
	}
	visit(newRootCommand(&app{}))
	for _, page := range pages {
		if strings.HasSuffix(page, ".1") && !slices.Contains(want, page) {
			t.Errorf("%s is of no command", page)
		}
	}
	_, err = exec.LookPath("groff")
	programtest.Needs(t, "groff", err)
	var complaints bytes.Buffer
	groff := exec.Command("groff", append([]string{"-K", "utf8", "-t", "-man", "-ww", "-z", "-Tutf8"}, pages...)...)
	groff.Stderr = &complaints
	if err := groff.Run(); err != nil || complaints.Len() > 0 {
		t.Errorf("groff: %v\n%s", err, complaints.String())
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// facts are what a program says about itself, by name: version, platform, tag, commit and more.
type facts map[string]string

// ask runs `neurolens version`.
func ask(program string) (facts, error) {
	text, err := output(program, "version", "--format", "json")
	if err != nil {
		return nil, err
	}
	var rows []struct{ Fact, Value string }
	if err := json.Unmarshal(text, &rows); err != nil {
		return nil, fmt.Errorf("reading the version of %s: %w", program, err)
	}
	f := facts{}
	for _, row := range rows {
		f[row.Fact] = row.Value
	}
	for _, wanted := range []string{"neurolens", "platform", "duckdb"} {
		if f[wanted] == "" {
			return nil, fmt.Errorf("reading the version of %s: it has no %s", program, wanted)
		}
	}
	return f, nil
}

// name is that of an archive.
func (f facts) name() string {
	return "neurolens-" + f["neurolens"] + "-" + strings.ReplaceAll(f["platform"], "/", "-")
}

// date is that of the commit. A program that does not know its commit gets a date of its own, the same for all.
func (f facts) date() time.Time {
	if t, err := time.Parse(time.RFC3339, f["commit_date"]); err == nil {
		return t.UTC()
	}
	return time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
}

// check refuses a program that was not built from a tag: of another version, or from files that were changed since.
func (f facts) check(tag string) error {
	switch {
	case tag == "":
		return nil
	case tag != "v"+f["neurolens"]:
		return fmt.Errorf("the tag is %s, and the version of the program is %s", tag, f["neurolens"])
	case f["tag"] != tag:
		return fmt.Errorf("the tag is %s, and the program was built from %q", tag, f["tag"])
	case f["commit"] == "" || f["modified"] != "false":
		return fmt.Errorf("the program was not built from a clean checkout: commit %q, modified %q", f["commit"], f["modified"])
	}
	return nil
}

// shells are those that the program completes, with the name of a file that each looks for.
var shells = map[string]string{"bash": "neurolens.bash", "zsh": "_neurolens", "fish": "neurolens.fish"}

func completions(program, dir string) error {
	for shell, name := range shells {
		text, err := output(program, "completion", shell)
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func manual(program, dir string) error {
	_, err := output(program, "help", "--man", dir)
	return err
}

// output runs a program and returns its standard output.
func output(program string, args ...string) ([]byte, error) {
	cmd := exec.Command(program, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("running %s %s: %w: %s", program, strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return out.Bytes(), nil
}

package cmdline

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/runner/shellwords"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// axisMeant returns the hint how to set an axis that was given next to a sweep file.
func axisMeant(argument string) string {
	if strings.Contains(argument, "=") {
		return "; -P " + argument + " sets an axis"
	}
	return ""
}

// fileBeside returns a suggestion for a missing file: another sweep in the folder.
func fileBeside(name string) string {
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(e.Name())) {
			names = append(names, e.Name())
		}
	}
	if near := schema.Nearest(filepath.Base(name), names); near != "" {
		return "; did you mean " + filepath.Join(filepath.Dir(name), near) + "?"
	}
	return ""
}

// openOptions are options with an optional value, which must follow a =. Each has a test whether the next text was meant as the value.
var openOptions = []struct {
	names []string
	means func(text string, alone bool) bool
}{
	{[]string{"--shell"}, func(text string, _ bool) bool { return slices.Contains(shells, filepath.Base(text)) }},
	{[]string{"--ignore-exit", "-i"}, func(text string, alone bool) bool { return isNumber(text) || text == "true" && !alone }},
}

// shells are programs that --shell names. Other tools use the last one for "no shell".
var shells = []string{"sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "yash", "busybox", noShell}

const noShell = "none"

// refuseValueApart refuses a text that was meant as the value of the option before it: it would be a program to measure.
func (a *Args) refuseValueApart() error {
	alone := len(a.Args) == 1
	for i, word := range a.Words {
		if word == "--" {
			return nil
		}
		for _, option := range openOptions {
			if i+1 == len(a.Words) || !slices.Contains(option.names, word) {
				continue
			}
			text := a.Words[i+1]
			switch _, err := exec.LookPath(text); {
			case !option.means(text, alone) || !slices.Contains(a.Args, text):
			case text == noShell && err != nil:
				return fmt.Errorf("%s %s: programs run without a shell unless --shell is given: remove this option", option.names[0], text)
			case text != noShell:
				return fmt.Errorf("%s %s: a separate word after this option is a program to measure: write %s=%s", option.names[0], text, option.names[0], text)
			}
		}
	}
	return nil
}

// refuseUnquotedArguments refuses a program whose arguments follow it without quotes, as each would be a separate program: sort big.txt.
// A setup may create a program before it is started, so with a setup only numbers are refused.
func (a *Args) refuseUnquotedArguments(o *sweep.Overrides) error {
	if a.Dash >= 0 || len(a.Args) < 2 || len(o.Set) > 0 || strings.ContainsAny(a.Args[0], " \t\n") {
		return nil
	}
	if _, err := exec.LookPath(a.Args[0]); err != nil {
		return nil
	}
	for _, word := range a.Args[1:] {
		why := notProgram(a.Args[0], filledOnce(word, o.Params))
		if why == "" || o.Given["setup"] != "" && !isNumber(word) {
			continue
		}
		together := shellwords.Join(a.Args)
		if err := scriptBeside(a.Args[0], word, together); err != nil {
			return err
		}
		return fmt.Errorf("%q is %s: each argument is a program of its own; for one program with arguments, write neurolens bench -- %s, or quotes around it", word, why, together)
	}
	return nil
}

// notProgram returns the reason why a word must be an argument of the program before it; empty: it may be a program, or another thing to
// measure.
func notProgram(program, word string) string {
	isPython := strings.HasPrefix(filepath.Base(program), "python")
	_, isModel := models[filepath.Ext(word)]
	if file, _, _ := strings.Cut(word, ".py:"); file != word || filepath.Ext(word) == ".py" {
		if isPython {
			return "a Python file, whose benchmarks would be measured"
		}
		return ""
	}
	if strings.ContainsAny(word, " \t\n'\"\\") {
		return notCommand(word)
	}
	if _, err := exec.LookPath(word); err == nil || isModel {
		return ""
	}
	return "not a program on PATH"
}

// notCommand returns the reason why a text of several words must be an argument of the program before it: its first word is neither a
// program nor a file, and has no special meaning to a shell.
func notCommand(text string) string {
	all, err := shellwords.Split(text)
	if err != nil || len(all) < 2 || strings.ContainsAny(all[0], "={}") || shellwords.InShells(all[0]) {
		return ""
	}
	_, err = exec.LookPath(all[0])
	if _, missing := os.Stat(all[0]); err == nil || missing == nil {
		return ""
	}
	return "not a program with arguments: " + all[0] + " is not on PATH"
}

// scriptBeside returns an error for a script that cannot be executed and follows a program: how to make it executable, and how to make
// it an argument of the program. If the program runs scripts, it must be an argument.
func scriptBeside(program, word, together string) error {
	if !strings.Contains(word, "/") || slices.Contains(shells, filepath.Base(program)) {
		return nil
	}
	if err := refuseScript(word); err != nil && isPlainFile(word) {
		return fmt.Errorf("%s is a script without permission to execute: use chmod +x %s; if it is an argument of %s, use neurolens bench -- %s", word, shellwords.Quote(word), program, together)
	}
	return nil
}

// filledOnce fills the first value of each axis into a word.
func filledOnce(word string, axes map[string]string) string {
	for name, values := range axes {
		first, _, _ := strings.Cut(values, ",")
		word = strings.ReplaceAll(word, "{"+name+"}", first)
	}
	return word
}

// refuseScript refuses a script that cannot be executed: it is no sweep file.
func refuseScript(name string) error {
	shell := "sh"
	if ending := strings.TrimPrefix(filepath.Ext(name), "."); slices.Contains(shells, ending) {
		shell = ending
	} else if first, err := firstBytes(name, len(hashBang)); err != nil || first != hashBang {
		return nil
	}
	return fmt.Errorf("%s is a script without permission to execute: use chmod +x %s, or neurolens bench -- %s %s", name, shellwords.Quote(name), shell, shellwords.Quote(name))
}

// hashBang begins a script.
const hashBang = "#!"

// firstBytes returns the first bytes of a file.
func firstBytes(name string, count int) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	first := make([]byte, count)
	_, err = io.ReadFull(file, first)
	return string(first), err
}

// refuseQuotedProgram refuses a program in quotes after --, where each argument is one word.
func (a *Args) refuseQuotedProgram(shell bool) error {
	if a.Dash != 0 || !strings.ContainsAny(a.Args[0], " \t\n") {
		return nil
	}
	if _, err := exec.LookPath(a.Args[0]); err == nil {
		return nil
	}
	quoted := shellwords.Join(a.Args)
	if _, err := shellwords.Split(a.Args[0]); err != nil || shell {
		quoted = "--shell " + quoted
	}
	return fmt.Errorf("%q is not a program: after --, each word of a program is an argument of its own; leave out --: neurolens bench %s", a.Args[0], quoted)
}

// isNumber reports whether a word is a number, and so an argument and no program.
func isNumber(word string) bool { return strings.Trim(word, "0123456789.,") == "" }

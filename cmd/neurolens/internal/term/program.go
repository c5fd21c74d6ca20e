package term

import (
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// answers are the commands whose output is read through a pager. The others show progress, or change something and say so.
var answers = []string{
	"compare", "config", "discover", "doctor", "env", "explain", "export", "help", "history", "ls", "query", "report", "show", "store info", "store views",
}

// wanted tells whether a pager shows the answer of a command. A gate is for scripts, as git diff --exit-code is.
func wanted(cmd *cobra.Command) bool {
	if without, err := cmd.Flags().GetBool("no-pager"); err != nil || without || cmd.Flags().Changed("gate") {
		return false
	}
	name := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	return slices.Contains(answers, name) || strings.HasPrefix(name, "plot ")
}

// Variables are those that name the pager, the first that is set.
const (
	ownVariable    = "NEUROLENS_PAGER"
	commonVariable = "PAGER"
	usual          = "less"
)

// programOf is the command line of the pager that a user wants; nil: none.
func programOf(lookup func(string) (string, bool)) []string {
	if kind, _ := lookup("TERM"); kind == "" || kind == "dumb" {
		return nil // pagers complain about such a terminal, and wait
	}
	text, set := lookup(ownVariable)
	if !set {
		text, set = lookup(commonVariable)
	}
	if !set {
		text = usual
	}
	words := strings.Fields(text)
	switch {
	case len(words) == 0 || len(words) == 1 && words[0] == "cat":
		return nil
	case plain.MatchString(text):
		if _, err := exec.LookPath(words[0]); err != nil {
			return nil
		}
		return words
	}
	return []string{"sh", "-c", text} // as git and man do
}

// plain matches what a shell takes for words and nothing else.
var plain = regexp.MustCompile(`^[\w\s./:=+,@%-]*$`)

// environ is the environment of a pager: less ends at once where the text fits, keeps colours, and leaves the text on the screen; lv
// keeps colours.
func environ(own []string) []string {
	for _, setting := range []string{"LESS=FRX", "LV=-c"} {
		name, _, _ := strings.Cut(setting, "=")
		if !slices.ContainsFunc(own, func(s string) bool { return strings.HasPrefix(s, name+"=") }) {
			own = append(own, setting)
		}
	}
	return own
}

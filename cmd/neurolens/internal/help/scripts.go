package help

import (
	"bytes"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// script is what completes in a shell: cobra's, with changes. A value may have spaces, so that a word is typed in quotes that are
// still open, or with backslashes.
type script struct {
	write   func(root *cobra.Command, to io.Writer, descriptions bool) error
	changes *strings.Replacer
	more    string // stands behind it, so that its functions count
}

// closed asks with each quote behind the line, until one closes it: a shell does not say which one is open.
const closed = `for open in '' "'" '"'; do
        out=$(eval "${requestComp}${open}" 2>/dev/null)
        [[ -n ${out} ]] && break
    done`

// scripts are those of shells, by the command below completion.
var scripts = map[string]script{
	"bash": {
		func(root *cobra.Command, to io.Writer, descriptions bool) error {
			return root.GenBashCompletionV2(to, descriptions)
		},
		strings.NewReplacer(`out=$(eval "${requestComp}" 2>/dev/null)`, closed, "local out directive\n", "local out directive open\n"),
		bashOffers,
	},
	"zsh": {
		func(root *cobra.Command, to io.Writer, descriptions bool) error {
			if descriptions {
				return root.GenZshCompletion(to)
			}
			return root.GenZshCompletionNoDesc(to)
		},
		strings.NewReplacer(`out=$(eval ${requestComp} 2>/dev/null)`, closed, "local lastParam ", "local open lastParam ", "'-.*='", "'^-[^=]*='"),
		"",
	},
	"fish": {
		func(root *cobra.Command, to io.Writer, descriptions bool) error {
			return root.GenFishCompletion(to, descriptions)
		},
		strings.NewReplacer(
			`set -l args (commandline -opc)`, `set -l args (string replace -ra -- '([^\w~$/.,:=@%+-])' '\\\\$1' (commandline -opc))`,
			`set -l lastArg (string escape -- (commandline -ct))`, `set -l typed (string unescape -- (commandline -ct))
    set -l lastArg (string escape -- "$typed")`,
			`'-.*=' "$lastArg"`, `'^-[^=]*=' "$typed"`,
			`(commandline -t | string escape --style=regex)`, `(commandline -t | string unescape | string escape --style=regex)`,
		),
		"",
	},
}

// bashOffers has bash offer what it got, all of which begins as what was typed. Bash puts in what offers have in common as it is,
// so that it has to be quoted where that differs, unless it is in quotes already. printf %q quotes commas, too; these mean nothing
// outside of braces, and a list that was quoted is none that anybody has typed.
const bashOffers = `
__neurolens_quoted()
{
    if [[ -n ${open} ]]; then
        printf -v quoted '%s' "$1"
    else
        printf -v quoted '%q' "$1"
        quoted=${quoted//\\,/,}
    fi
}

__neurolens_handle_completion_types()
{
    local tab=$'\t' comp quoted common longest=0
    (( ${#completions[@]} == 0 )) && return 0
    common=${completions[0]%%$tab*}
    for comp in "${completions[@]}"; do
        comp=${comp%%$tab*}
        while [[ ${comp} != "${common}"* ]]; do common=${common%?}; done
        (( ${#comp} > longest )) && longest=${#comp}
    done
    __neurolens_quoted "${common}"
    if (( ${#completions[@]} > 1 && COMP_TYPE != 37 && COMP_TYPE != 42 )) && [[ ${quoted} == "${common}" ]]; then
        COMPREPLY=("${completions[@]}")
        __neurolens_format_comp_descriptions ${longest}
        return 0
    fi
    for comp in "${completions[@]}"; do
        __neurolens_quoted "${comp%%$tab*}"
        COMPREPLY+=("${quoted}")
    done
}
`

// writeTo writes it for a program.
func (s script) writeTo(to io.Writer, root *cobra.Command, descriptions bool) error {
	var text bytes.Buffer
	if err := s.write(root, &text, descriptions); err != nil {
		return err
	}
	_, err := io.WriteString(to, s.changes.Replace(text.String())+s.more)
	return err
}

// AddCompletionCommand has `completion SHELL` of a root command print them.
func AddCompletionCommand(root *cobra.Command) {
	for shell, s := range scripts {
		cmd, _, err := root.Find([]string{"completion", shell})
		if err != nil || cmd.Name() != shell {
			continue
		}
		cmd.RunE = func(cmd *cobra.Command, _ []string) error {
			without, err := cmd.Flags().GetBool("no-descriptions")
			if err != nil {
				return err
			}
			return s.writeTo(root.OutOrStdout(), root, !without)
		}
	}
}

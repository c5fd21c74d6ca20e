package complete

import (
	"bytes"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// quoted is a function for bash that quotes words as printf %q does, but for commas: these mean nothing outside of braces, and a
// list that was quoted is none that anybody has typed, so that bash would not take it for what follows.
const quoted = `__neurolens_quoted()
{
    local word text
    for word; do
        printf -v text '%q' "${word}"
        printf '%s\n' "${text//\\,/,}"
    done
}

`

// commas are the places of cobra's script that quote words.
var commas = strings.NewReplacer(
	`printf "%q\n" `, `__neurolens_quoted `,
	`printf -v comp "%q" "${compline%%$tab*}" &>/dev/null || comp=$(printf "%q" "${compline%%$tab*}")`, `printf -v comp "%q" "${compline%%$tab*}"; comp=${comp//\\,/,}`,
	`$(printf "%q" `, `$(__neurolens_quoted `,
)

// writeBash writes the script for bash.
func writeBash(to io.Writer, root *cobra.Command, descriptions bool) error {
	var script bytes.Buffer
	if err := root.GenBashCompletionV2(&script, descriptions); err != nil {
		return err
	}
	_, err := io.WriteString(to, quoted+commas.Replace(script.String()))
	return err
}

// ownBash has `completion bash` print it.
func ownBash(root *cobra.Command) {
	cmd, _, err := root.Find([]string{"completion", "bash"})
	if err != nil || cmd.Name() != "bash" {
		return
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		without, err := cmd.Flags().GetBool("no-descriptions")
		if err != nil {
			return err
		}
		return writeBash(root.OutOrStdout(), root, !without)
	}
}

package help

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// FlagAliases has a command take flags by the names that they have in other tools, which help does not mention: other names by
// that of the flag. A name of one letter is a short one.
func FlagAliases(cmd *cobra.Command, names map[string][]string) {
	flags := cmd.Flags()
	for flag, others := range names {
		for _, other := range others {
			alias := &pflag.Flag{Name: other, Value: another{flags, flag}, Usage: "as --" + flag, Hidden: true, NoOptDefVal: flags.Lookup(flag).NoOptDefVal}
			if len(other) == 1 {
				alias.Shorthand = other
			}
			flags.AddFlag(alias)
		}
	}
}

// another is the value of a flag under another name.
type another struct {
	flags *pflag.FlagSet
	flag  string
}

func (a another) Set(text string) error { return a.flags.Set(a.flag, text) }
func (a another) Type() string          { return a.flags.Lookup(a.flag).Value.Type() }
func (a another) String() string        { return "" }

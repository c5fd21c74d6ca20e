package project

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// thresholdFlag is the flag whose default holds only where no sweep says another one.
const thresholdFlag = "threshold"

// defaultFlags returns the flags that a project may give a default, by command. They say how often is measured, how much is shown and
// what counts. None says which runs an answer is about, what is written or started, or what the exit status means: a script
// that leaves such a flag out means it.
func defaultFlags() map[string][]string {
	var counts []string
	for _, k := range sweep.Keys() {
		if slices.Contains(sweep.DefaultKeys(), k.Name) && k.Name != "python" {
			counts = append(counts, k.OptionName())
		}
	}
	decides := []string{"order", "repeats"} // of bisect
	return map[string][]string{
		"bench":    append([]string{"verbose", "wait"}, counts...),
		"bisect":   append([]string{"wait"}, slices.DeleteFunc(slices.Clone(counts), func(flag string) bool { return slices.Contains(decides, flag) })...),
		"compare":  {"all", "metric", thresholdFlag},
		"discover": {"verbose"},
		"explain":  {"all", "metric", thresholdFlag},
		"history":  {"metric"},
	}
}

// readDefaults reads the defaults of flags, by command.
func (p *Project) readDefaults(n *yaml.Node) error {
	commands, err := p.members("defaults: ", n, "a map of commands")
	if err != nil {
		return err
	}
	known := defaultFlags()
	for _, c := range commands {
		command := c.key.Value
		flags, is := known[command]
		if !is {
			return p.errorf(c.key.Line, "defaults: no command %q takes defaults; %s", command, meant(command, slices.Sorted(maps.Keys(known))))
		}
		set, err := p.members("defaults."+command+": ", c.value, "a map of flags")
		if err != nil {
			return err
		}
		for _, m := range set {
			if !slices.Contains(flags, m.key.Value) {
				flag := strings.TrimLeft(m.key.Value, "-")
				return p.errorf(m.key.Line, "defaults.%s: no flag %q takes a default; %s", command, flag, meant(flag, slices.Sorted(slices.Values(flags))))
			}
			if err := p.readDefault(command, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// meant returns what a name that is not known probably means, else all that are.
func meant(name string, known []string) string {
	if near := schema.Nearest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	return "these do: " + strings.Join(known, " ")
}

// readDefault reads the default of a flag: a text, or a list of them.
func (p *Project) readDefault(command string, m member) error {
	key, items := "defaults."+command+"."+m.key.Value, []*yaml.Node{m.value}
	if m.value.Kind == yaml.SequenceNode {
		items = m.value.Content
	}
	var texts []string
	for _, item := range items {
		if !isText(item) {
			return p.errorf(item.Line, "%s: want a text, got %s", key, got(item))
		}
		texts = append(texts, item.Value)
	}
	if len(texts) == 0 {
		return p.errorf(m.value.Line, "%s: the list is empty", key)
	}
	if m.key.Value == thresholdFlag {
		set, err := judge.ParseThresholds(texts)
		if err != nil {
			return p.errorf(m.key.Line, "%s: %w", key, err)
		}
		p.below[command] = set
	}
	p.values = append(p.values, value{key, strings.Join(texts, ","), m.value, m.key.Line})
	return nil
}

// flagOf returns the command and the flag of which a key of the file is the default.
func flagOf(key string) (command, flag string, is bool) {
	rest, is := strings.CutPrefix(key, "defaults.")
	command, flag, _ = strings.Cut(rest, ".")
	return command, flag, is
}

// apply gives flags that are not on the command line their defaults. Those that go before keys of a sweep get none here:
// see Sweep. What a flag does not take is refused, of every command.
func (p *Project) apply(root *cobra.Command) error {
	for _, v := range p.values {
		command, flag, is := flagOf(v.key)
		if !is || flag == thresholdFlag {
			continue
		}
		cmd, _, err := root.Find([]string{command})
		if err != nil {
			return err
		}
		if f := cmd.Flags().Lookup(flag); !f.Changed {
			if err := f.Value.Set(v.text); err != nil {
				return p.errorf(v.line, "%s: want %s, got %q", v.key, cmp.Or(term.WantedNumber(err), "a value of --"+f.Name), v.text)
			}
		}
		if key := keyOfFlag(flag); slices.Contains(sweep.DefaultKeys(), key) {
			if err := sweep.CheckDefault(p.path, v.key, key, v.node); err != nil {
				return err
			}
		}
	}
	return nil
}

// Sweep returns what the file, and the environment over it, says of keys of a sweep for a command.
func (p *Project) Sweep(command string) []sweep.Defaults {
	file := sweep.Defaults{Layer: sweep.LayerProject, Name: p.path, Lines: true, Keys: mapOf()}
	for _, v := range p.values {
		switch of, flag, is := flagOf(v.key); {
		case v.key == "python":
			put(file.Keys, "python", v.line, sweep.Verbatim(v.text, v.line))
		case is && of == command && slices.Contains(sweep.DefaultKeys(), keyOfFlag(flag)):
			put(file.Keys, keyOfFlag(flag), v.line, v.node)
		case strings.HasPrefix(v.key, "thresholds.") && !slices.ContainsFunc(file.Keys.Content, func(n *yaml.Node) bool { return n == v.node }):
			put(file.Keys, "thresholds", v.line, v.node)
		}
	}
	all := []sweep.Defaults{file}
	if python := p.environ(variablePython); python != "" {
		variable := sweep.Defaults{Layer: sweep.LayerEnvironment, Name: variablePython, Keys: mapOf()}
		put(variable.Keys, "python", 0, sweep.Verbatim(python, 0))
		all = append(all, variable)
	}
	return all
}

// keyOfFlag returns the key of a sweep that a flag goes before.
func keyOfFlag(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

func mapOf() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

// put adds a key to a map.
func put(to *yaml.Node, key string, line int, n *yaml.Node) {
	to.Content = append(to.Content, sweep.Verbatim(key, line), n)
}

package main

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// repeatedOptions are the flags that say how a run is made, in the order in which they are typed again. Those of some
// executors are refused where no point takes them: they go with runs that have the fact.
func repeatedOptions() (ofAll, ofSome []string) {
	for _, k := range sweep.Keys() {
		switch {
		case !k.Again:
		case k.Executors == nil:
			ofAll = append(ofAll, k.OptionName())
		default:
			ofSome = append(ofSome, k.OptionName())
		}
	}
	return append(ofAll, "no-skip-after-oom"), ofSome
}

// repeatableFlags are the flags of a command line that say how its runs are made, as JSON, to be stored with them. The
// interpreter may come from the environment. Empty where there are none.
func repeatableFlags(cmd *cobra.Command, python string) string {
	given := map[string]string{}
	if python != "" {
		given["python"] = python
	}
	ofAll, ofSome := repeatedOptions()
	for _, name := range slices.Concat(ofAll, ofSome) {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			given[name] = f.Value.String()
		}
	}
	if len(given) == 0 {
		return ""
	}
	return output.Text(given)
}

// againCommand runs the point of a run again; empty where it is not known how. against is the commit that its session
// compared with.
func (a *app) againCommand(t answer.Table, run []any, against string) string {
	env, _ := at(t, run, "env").(map[string]any)
	file, _ := env["sweep.file"].(string)
	if file == "" {
		return ""
	}
	words := append([]string{"neurolens", "bench", file}, axisWords(t, run, env)...)
	words = append(words, flagWords(t, run, env)...)
	if tool, ok := env["runner.profile"].(string); ok {
		words = append(words, "--profile", tool)
	}
	if against != "" {
		words = append(words, "--against", against)
	}
	if len(a.stores) == 1 {
		words = append(words, "--store", a.stores[0])
	}
	for i, word := range words {
		words[i] = term.ShellWord(word)
	}
	return strings.Join(words, " ") + " --repeats 1"
}

// axisWords choose the point.
func axisWords(t answer.Table, run []any, env map[string]any) []string {
	var words []string
	add := func(name, text string) {
		if written, ok := env["runner.axis."+name].(string); ok { // 1.0, whose canonical text is 1
			text = written
		}
		words = append(words, "-P", name+"="+text)
	}
	executor := schema.Executor(textAt(t, run, "executor"))
	benchmark := textAt(t, run, "benchmark")
	if isCalibration(t, run, env) { // it is in the sweep, and no axis chooses it
		return []string{"--targets", benchmark}
	}
	switch executor {
	case schema.ExecutorCommand: // the words of the top may be labels, which are no axes
		if benchmark != "" && !strings.ContainsAny(benchmark, `*?[\,"`) {
			words = append(words, "--targets", benchmark)
		}
	default:
		for _, name := range []string{"benchmark", "variant", "backend"} {
			if text := textAt(t, run, name); text != "" {
				add(name, yamlText(literalBraces.Replace(text)))
			}
		}
	}
	switch model, path := textAt(t, run, "model"), output.Text(env["runner.model"]); {
	case executor == schema.ExecutorCommand || executor == schema.ExecutorPython || executor == schema.ExecutorBuiltin:
	case path == "" && strings.HasPrefix(model, "builtin:"):
		add("model", yamlText(literalBraces.Replace(model)))
	case path != "" && filepath.Base(path) == model: // another name could not be given
		add("model", yamlText(literalBraces.Replace(path)))
	}
	for _, name := range []string{"batch_size", "seq_len", "precision"} {
		if v := at(t, run, name); v != nil {
			add(name, output.Text(v))
		}
	}
	params, _ := at(t, run, "params").(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(params)) {
		add(name, yamlValue(output.Text(params[name])))
	}
	return words
}

// isCalibration tells a run of a point that calibrate adds.
func isCalibration(t answer.Table, run []any, env map[string]any) bool {
	return env[schema.FactControl] == "true" && textAt(t, run, "benchmark") == sweep.CalibrationBenchmark &&
		textAt(t, run, "executor") == string(schema.ExecutorBuiltin) && textAt(t, run, "model") == ""
}

// literalBraces writes a text for a place where {axis} would be filled in.
var literalBraces = strings.NewReplacer("{", "{{", "}", "}}")

// flagWords are the interpreter, and the flags that the run was made with.
func flagWords(t answer.Table, run []any, env map[string]any) []string {
	var given map[string]string
	text, _ := env["runner.flags"].(string)
	_ = json.Unmarshal([]byte(text), &given) // what cannot be read is not known
	var words []string
	params, _ := at(t, run, "params").(map[string]any)
	if python, ok := given["python"]; ok {
		words = append(words, "--python", python)
	} else if path, ok := env["python.executable"].(string); ok && !choosesPython(params, path) {
		words = append(words, "--python", path)
	}
	ofAll, ofSome := repeatedOptions()
	for _, name := range slices.Concat(ofAll, ofSome) {
		value, ok := given[name]
		_, taken := env["runner."+strings.ReplaceAll(name, "-", "_")]
		switch {
		case !ok || !taken && slices.Contains(ofSome, name):
		case value == "true": // a switch
			words = append(words, "--"+name)
		default:
			words = append(words, "--"+name+"="+value)
		}
	}
	return words
}

// choosesPython tells that a parameter names the interpreter, which then needs no flag.
func choosesPython(params map[string]any, path string) bool {
	for _, value := range params {
		if name := filepath.Clean("/" + output.Text(value)); name != "/" && strings.HasSuffix(path, name) {
			return true
		}
	}
	return false
}

// Words that YAML reads as they are, but for the reserved ones.
var (
	yamlWord     = regexp.MustCompile(`^[A-Za-z_/][A-Za-z0-9_./+-]*(:[A-Za-z0-9_./+-]+)*$`)
	yamlReserved = regexp.MustCompile(`^(?i:true|false|null|yes|no|on|off|y|n|nan|inf|infinity)$`)
)

// yamlText is a text as -P takes it.
func yamlText(s string) string {
	if yamlWord.MatchString(s) && !yamlReserved.MatchString(s) {
		return s
	}
	return strconv.Quote(s)
}

// yamlValue is the canonical text of a parameter as -P takes it.
func yamlValue(s string) string {
	if canonical, err := schema.CanonicalNumber(s); err == nil && canonical == s {
		return s
	}
	return yamlText(s)
}

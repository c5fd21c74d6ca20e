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
func (a *app) againCommand(run *schema.Run, against string) string {
	file := run.Env.Facts["sweep.file"]
	if file == "" {
		return ""
	}
	words := append([]string{"neurolens", "bench", file}, axisWords(run)...)
	words = append(words, flagWords(run)...)
	if tool, ok := run.Env.Facts["runner.profile"]; ok {
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
func axisWords(run *schema.Run) []string {
	var words []string
	add := func(name, text string) {
		if written, ok := run.Env.Facts["runner.axis."+name]; ok { // 1.0, whose canonical text is 1
			text = written
		}
		words = append(words, "-P", name+"="+text)
	}
	if isCalibration(run) { // it is in the sweep, and no axis chooses it
		return []string{"--targets", run.Benchmark}
	}
	switch run.Executor {
	case schema.ExecutorCommand: // the words of the top may be labels, which are no axes
		if run.Benchmark != "" && !strings.ContainsAny(run.Benchmark, `*?[\,"`) {
			words = append(words, "--targets", run.Benchmark)
		}
	default:
		for _, label := range [][2]string{{"benchmark", run.Benchmark}, {"variant", run.Variant}, {"backend", run.Backend}} {
			if name, text := label[0], label[1]; text != "" {
				add(name, yamlText(literalBraces.Replace(text)))
			}
		}
	}
	if model := modelOf(run); model != "" {
		add("model", yamlText(literalBraces.Replace(model)))
	}
	if run.BatchSize != nil {
		add("batch_size", strconv.FormatInt(*run.BatchSize, 10))
	}
	if run.SeqLen != nil {
		add("seq_len", strconv.FormatInt(*run.SeqLen, 10))
	}
	if run.Precision != "" {
		add("precision", run.Precision)
	}
	for _, name := range slices.Sorted(maps.Keys(run.Params)) {
		add(name, yamlValue(run.Params[name]))
	}
	return words
}

// modelOf is the model of a run as a sweep names it; empty where it names none, or that is not known.
func modelOf(run *schema.Run) string {
	path := run.Env.Facts["runner.model"]
	switch {
	case run.Executor == schema.ExecutorCommand || run.Executor == schema.ExecutorPython || run.Executor == schema.ExecutorBuiltin:
	case path == "" && strings.HasPrefix(run.Model, "builtin:"):
		return run.Model
	case path != "" && filepath.Base(path) == run.Model: // another name could not be given
		return path
	}
	return ""
}

// isCalibration tells a run of a point that calibrate adds.
func isCalibration(run *schema.Run) bool {
	return run.Env.Facts[schema.FactControl] == "true" && run.Benchmark == sweep.CalibrationBenchmark &&
		run.Executor == schema.ExecutorBuiltin && run.Model == ""
}

// literalBraces writes a text for a place where {axis} would be filled in.
var literalBraces = strings.NewReplacer("{", "{{", "}", "}}")

// flagWords are the interpreter, and the flags that the run was made with.
func flagWords(run *schema.Run) []string {
	var given map[string]string
	env := run.Env.Facts
	_ = json.Unmarshal([]byte(env["runner.flags"]), &given) // what cannot be read is not known
	var words []string
	if python, ok := given["python"]; ok {
		words = append(words, "--python", python)
	} else if path, ok := env["python.executable"]; ok && !choosesPython(run.Params, path) {
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
func choosesPython(params map[string]string, path string) bool {
	for _, value := range params {
		if name := filepath.Clean("/" + value); name != "/" && strings.HasSuffix(path, name) {
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

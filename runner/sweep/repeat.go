package sweep

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/runner/builtin"
	"github.com/neurolens/neurolens/runner/shellwords"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// Repeat returns the words of a command line that runs the point of a stored run again, starting with bench: its sweep file or programs,
// the options that select the point, and the options of the run. against is the commit that its session compared with. program are the
// words of a program, which follow -- after all options; nil: none. It returns nil if the run does not record its sweep file. The words
// are not quoted for a shell.
func Repeat(run *schema.Run, against string) (line, program []string) {
	facts := run.Env.Facts
	var what []string
	if file := facts["sweep.file"]; file != "" {
		what = append([]string{shellwords.FromUTF8(file)}, pointWords(run)...)
	} else if text := lineText(run); text != "" {
		if program = programWords(run, text); program == nil {
			what = []string{text}
		}
		if run.Executor == schema.ExecutorPython && run.Benchmark != text { // the text is a file, which may have other functions
			what = append(what, targetWords(run)...)
		}
		what = append(what, axisWords(run)...)
	} else {
		return nil, nil
	}
	line = slices.Concat([]string{"bench"}, what, optionWords(run), givenFacts(run))
	if tool, ok := facts[schema.FactProfile]; ok {
		line = append(line, "--profile", tool)
	}
	if against != "" {
		line = append(line, "--against", against)
	}
	return line, program
}

// programWords returns the words of a program for the text of a line, if after -- they result in the same text. The text is the name of
// the point, so another spelling would be another point. A single word does not need --.
func programWords(run *schema.Run, text string) []string {
	if run.Params["shell"] != "" {
		return nil
	}
	parts, err := shellwords.Split(text)
	if err != nil || len(parts) == 1 && parts[0] == text || shellwords.Join(parts) != text {
		return nil
	}
	return parts
}

// FactGiven is the prefix of facts that a user has set to other values than the values of the machine. The name follows.
const FactGiven = "runner.fact."

// givenFacts give them again.
func givenFacts(run *schema.Run) (words []string) {
	for _, name := range slices.Sorted(maps.Keys(run.Env.Facts)) {
		if fact, is := strings.CutPrefix(name, FactGiven); is {
			words = append(words, "--fact", fact+"="+run.Env.Facts[name])
		}
	}
	return words
}

// Repeated returns the options that are needed to repeat a run, besides those in RepeatedOptions, to be stored with the run.
func (o Overrides) Repeated() map[string]string {
	given := map[string]string{}
	note(&given, "python", o.Given["python"])
	note(&given, "preset", strings.Join(o.Presets, ","))
	if len(o.Set) > 0 {
		text, err := json.Marshal(o.Set)
		if err == nil { // texts always have one
			given["set"] = string(text)
		}
	}
	return given
}

// layerWords returns the options that override settings of the file.
func layerWords(given map[string]string) (words []string) {
	if presets := given["preset"]; presets != "" {
		words = append(words, "--preset", presets)
	}
	var set []string
	_ = json.Unmarshal([]byte(given["set"]), &set) // an unreadable value is ignored
	for _, word := range set {
		words = append(words, "--set", word)
	}
	return words
}

// RepeatedOptions lists the options of bench that define how a run is made, in the order in which a command line repeats them.
func RepeatedOptions() []string {
	ofAll, ofSome := repeatedOptions()
	return slices.Concat(ofAll, ofSome)
}

// repeatedOptions returns the options of all runs, and the options of some executors. The latter are refused if no point uses them, so
// they are only repeated for runs that have the fact.
func repeatedOptions() (ofAll, ofSome []string) {
	for _, k := range keys {
		switch {
		case !k.Reproduce:
		case k.Executors == nil:
			ofAll = append(ofAll, k.OptionName())
		default:
			ofSome = append(ofSome, k.OptionName())
		}
	}
	return append(ofAll, "no-skip-after-oom"), ofSome
}

// lineText returns the text of the line from which the run was measured if it replaced a sweep file; empty: it did not. If there were
// several, each text is a variant, which identifies it: secrets in the stored texts are hidden.
func lineText(run *schema.Run) string {
	var given map[string]string
	_ = json.Unmarshal([]byte(run.Env.Facts["runner.flags"]), &given) // an unreadable value is ignored
	var texts []string
	_ = json.Unmarshal([]byte(given["line"]), &texts)
	switch len(texts) {
	case 0:
		return ""
	case 1:
		return texts[0]
	}
	return run.Variant
}

// pointWords choose the point.
func pointWords(run *schema.Run) []string {
	if isCalibration(run) { // it is in the sweep, and no axis chooses it
		return []string{"--targets", run.Benchmark}
	}
	return append(labelWords(run), axisWords(run)...)
}

// axisWord returns an option that sets an axis to the value of a run. text is its canonical text, in the syntax of the option.
func axisWord(run *schema.Run, name, text string) []string {
	if written, ok := run.Env.Facts["runner.axis."+name]; ok { // such as 1.0, whose canonical text is 1
		text = written
	}
	return []string{"-P", name + "=" + text}
}

// labelWords choose the benchmark, the variant, the backend and the model of a run.
func labelWords(run *schema.Run) (words []string) {
	add := func(name, text string) { words = append(words, axisWord(run, name, text)...) }
	switch run.Executor {
	case schema.ExecutorCommand: // the words at the top may be labels, which are no axes
		words = targetWords(run)
		if name := run.Env.Facts["runner.axis.variant"]; name != "" { // one of several variants with their own keys
			add("variant", name)
		}
	default:
		for _, label := range [][2]string{{"benchmark", run.Benchmark}, {"variant", run.Variant}, {"backend", run.Backend}} {
			if name, text := label[0], label[1]; text != "" {
				add(name, optionText(literalBraces.Replace(text)))
			}
		}
	}
	if model := namedModel(run); model != "" {
		add("model", optionText(literalBraces.Replace(model)))
	}
	return words
}

// targetWords choose the benchmark of a run by its name, if that is no pattern.
func targetWords(run *schema.Run) []string {
	if run.Benchmark == "" || strings.ContainsAny(run.Benchmark, `*?[\,"`) {
		return nil
	}
	return []string{"--targets", run.Benchmark}
}

// axisWords returns the other axes of a run.
func axisWords(run *schema.Run) (words []string) {
	add := func(name, text string) { words = append(words, axisWord(run, name, text)...) }
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
		if !isOfKey(run, name) {
			add(name, optionValue(run.Params[name]))
		}
	}
	return words
}

// isOfKey reports whether a parameter of a run is the value of a key and not of an axis: see addParam.
func isOfKey(run *schema.Run, name string) bool {
	_, axis := run.Env.Facts["runner.axis."+name]
	value, given := run.Env.Facts["runner."+name]
	return (name == "shell" || name == "stdin") && !axis && given && value == run.Params[name]
}

// namedModel returns the model of a run by its name in a sweep; empty if it has no name, or the name is unknown.
func namedModel(run *schema.Run) string {
	path := run.Env.Facts["runner.model"]
	switch {
	case run.Executor == schema.ExecutorCommand || run.Executor == schema.ExecutorPython || run.Executor == schema.ExecutorBuiltin:
	case path == "" && strings.HasPrefix(run.Model, builtin.ModelPrefix):
		return run.Model
	case path != "" && filepath.Base(path) == run.Model: // another name could not be given
		return path
	}
	return ""
}

// isCalibration reports whether a run measures a point that calibrate adds.
func isCalibration(run *schema.Run) bool {
	return run.Env.Facts[schema.FactControl] == "true" && run.Benchmark == calibrationBenchmark &&
		run.Executor == schema.ExecutorBuiltin && run.Model == ""
}

// literalBraces writes a text for a place where {axis} would be filled in.
var literalBraces = strings.NewReplacer("{", "{{", "}", "}}")

// Literal escapes braces, for a text in a sweep file in which {axis} would be filled in.
func Literal(text string) string { return literalBraces.Replace(text) }

// optionWords returns the interpreter, and the options that the run was made with.
func optionWords(run *schema.Run) (line []string) {
	facts := run.Env.Facts
	var given map[string]string
	_ = json.Unmarshal([]byte(facts["runner.flags"]), &given) // an unreadable value is ignored
	line = layerWords(given)
	if python, ok := given["python"]; ok {
		line = append(line, "--python", python)
	} else if path, ok := facts["python.executable"]; ok && !choosesPython(run.Params, path) {
		line = append(line, "--python", path)
	}
	ofAll, ofSome := repeatedOptions()
	for _, name := range slices.Concat(ofAll, ofSome) {
		value, ok := given[name]
		value = shellwords.FromUTF8(value)
		_, taken := facts["runner."+strings.ReplaceAll(name, "-", "_")]
		switch {
		case !ok || !taken && slices.Contains(ofSome, name):
		case value == "true" && isSwitch(name):
			line = append(line, "--"+name)
		default:
			line = append(line, "--"+name+"="+value)
		}
	}
	return line
}

// isSwitch reports whether an option without a value means true.
func isSwitch(option string) bool {
	at := slices.IndexFunc(keys, func(k Key) bool { return k.OptionName() == option })
	return at < 0 || keys[at].Value.Kind == Switch || keys[at].Alone == "true"
}

// choosesPython reports whether a parameter names the interpreter, so that no option is needed.
func choosesPython(params map[string]string, path string) bool {
	for _, value := range params {
		if name := filepath.Clean("/" + value); name != "/" && strings.HasSuffix(path, name) {
			return true
		}
	}
	return false
}

// Words that need no quotes in YAML, except for reserved ones.
var (
	plainWord    = regexp.MustCompile(`^[A-Za-z_/][A-Za-z0-9_./+-]*(:[A-Za-z0-9_./+-]+)*$`)
	reservedWord = regexp.MustCompile(`^(?i:true|false|null|yes|no|on|off|y|n|nan|inf|infinity)$`)
)

// optionText returns a text in the syntax of -P.
func optionText(s string) string {
	if plainWord.MatchString(s) && !reservedWord.MatchString(s) {
		return s
	}
	return strconv.Quote(s)
}

// optionValue returns the canonical text of a parameter in the syntax of -P.
func optionValue(s string) string {
	if canonical, err := schema.CanonicalNumber(s); err == nil && canonical == s {
		return s
	}
	return optionText(s)
}

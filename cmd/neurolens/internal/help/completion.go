package help

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema"
)

// prefix and the name of a flag are the key of an annotation of a command: the directive to the shell and, a line each, the words that it
// completes after the flag.
const prefix = "completion of "

// Words has a shell complete words after a flag, and no names of files.
func Words(cmd *cobra.Command, flag string, words []cobra.Completion) {
	note(cmd, prefix+flag, cobra.ShellCompDirectiveNoFileComp, words)
}

// Beginnings has a shell complete words after a flag that the user types on, and no names of files.
func Beginnings(cmd *cobra.Command, flag string, words []cobra.Completion) {
	note(cmd, prefix+flag, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace, words)
}

func note(cmd *cobra.Command, key string, directive cobra.ShellCompDirective, words []cobra.Completion) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[key] = strconv.Itoa(int(directive)) + "\n" + strings.Join(words, "\n")
}

// registerWords registers the words of all flags of a command and of its subcommands with cobra, which refuses a flag that does not exist.
func registerWords(cmd *cobra.Command) error {
	var all error
	for name, noted := range cmd.Annotations {
		flag, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		directive, text, _ := strings.Cut(noted, "\n")
		d, err := strconv.Atoi(directive)
		words := strings.Split(text, "\n")
		all = errors.Join(all, err, cmd.RegisterFlagCompletionFunc(flag, wordBeginning(words, cobra.ShellCompDirective(d))))
	}
	for _, below := range cmd.Commands() {
		all = errors.Join(all, registerWords(below))
	}
	return all
}

// wordBeginning completes with the words that begin with the typed text.
func wordBeginning(words []cobra.Completion, then cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return beginning(words, typed), then
	}
}

// nothing offers no words and no names of files, where people type what only they know.
func nothing(request) ([]cobra.Completion, cobra.ShellCompDirective) { return nil, done }

// files has the shell offer the names of files.
func files(request) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// folders has the shell offer the names of folders.
func folders(request) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// ending has the shell offer the names of files with these endings.
func ending(endings ...string) offer {
	return func(request) ([]cobra.Completion, cobra.ShellCompDirective) {
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

// completionWords offers the same words whatever the line.
func completionWords(all ...cobra.Completion) offer {
	return func(request) ([]cobra.Completion, cobra.ShellCompDirective) { return all, done }
}

// one offers words of which one is wanted.
func one(all func(r request) []cobra.Completion) offer {
	return func(r request) ([]cobra.Completion, cobra.ShellCompDirective) { return all(r), done }
}

// list offers the words that can follow in a list with commas, in which each stands once.
func list(all func(r request) []cobra.Completion) offer {
	return func(r request) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := r.typed[:strings.LastIndex(r.typed, ",")+1]
		there := strings.Split(before, ",")
		var left []cobra.Completion
		for _, word := range all(r) {
			if !slices.Contains(there, wordOf(word)) {
				left = append(left, before+word)
			}
		}
		return left, open
	}
}

// wordOf returns a completion without its description.
func wordOf(c cobra.Completion) string {
	word, _, _ := strings.Cut(c, "\t")
	return word
}

// described returns a word with a description, of which the shell shows the first sentence.
func described(word, text string) cobra.Completion {
	text, _, _ = strings.Cut(text, "; ")
	text, _, _ = strings.Cut(text, ". ")
	return cobra.CompletionWithDesc(word, strings.TrimSuffix(printed(text), "."))
}

// printed returns a text without characters that control a terminal or have a meaning for the scripts of the shells.
func printed(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '`':
			return -1
		case !unicode.IsPrint(r):
			return ' '
		}
		return r
	}, text)
}

// beginning returns the words that begin with the typed text and can be printed in a line of a terminal.
func beginning(all []cobra.Completion, typed string) []cobra.Completion {
	var left []cobra.Completion
	for _, c := range all {
		word := wordOf(c)
		unprintable := strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) })
		if strings.HasPrefix(word, typed) && word != "" && utf8.ValidString(word) && !unprintable {
			left = append(left, c)
		}
	}
	return left
}

// completer registers completions with cobra.
type completer struct {
	stores func() []string // the stores that a reading command with the flags of the line reads
}

// request is a place of a command line for which a shell asks.
type request struct {
	completer
	cmd   *cobra.Command
	args  []string // before the word that is being typed, without flags
	typed string
}

// Directives to the shell.
const (
	done = cobra.ShellCompDirectiveNoFileComp                                   // a word is followed by a space; no names of files
	open = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace // more of the word follows
)

// offer makes the completions at a place of the command line.
type offer func(r request) ([]cobra.Completion, cobra.ShellCompDirective)

// IsCompletion reports whether a shell asks for completions with this command line.
func IsCompletion(args []string) bool { return len(args) > 0 && isQuestion(args[0]) }

// IsCompleting reports whether a command answers a shell that asks for completions.
func IsCompleting(cmd *cobra.Command) bool { return isQuestion(cmd.Name()) }

func isQuestion(name string) bool {
	return name == cobra.ShellCompRequestCmd || name == cobra.ShellCompNoDescRequestCmd
}

// PrepareCompletion registers completions for all flags and arguments with cobra. stores returns the stores that a reading command with
// the flags of the line reads. Only a command line that a shell asks for is prepared: it takes a twentieth of the time of the shortest
// command.
func PrepareCompletion(root *cobra.Command, stores func() []string) error {
	plain(root)
	return errors.Join(registerWords(root), completer{stores}.register(root))
}

func (s completer) register(cmd *cobra.Command) error {
	var all error
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if _, known := cmd.GetFlagCompletionFunc(f.Name); known {
			return
		}
		if o := offerAfter(cmd, f); o != nil {
			all = errors.Join(all, cmd.RegisterFlagCompletionFunc(f.Name, s.function(o)))
		}
	})
	if o, known := arguments[nameOf(cmd)]; known && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = s.function(o)
	}
	for _, below := range cmd.Commands() {
		all = errors.Join(all, s.register(below))
	}
	return all
}

// function makes a function for cobra of an offer.
func (s completer) function(o offer) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		debug.SetGCPercent(800) // the process ends with its answer
		words, then := o(request{s, cmd, args, typed})
		if then&(cobra.ShellCompDirectiveFilterFileExt|cobra.ShellCompDirectiveFilterDirs) != 0 {
			return words, then
		}
		if words = beginning(words, typed); len(words) == 0 { // files may follow, and end with a space
			then &^= cobra.ShellCompDirectiveNoSpace
		}
		return words, then
	}
}

// nameOf returns the path of a command without the program.
func nameOf(cmd *cobra.Command) string {
	_, name, _ := strings.Cut(cmd.CommandPath(), " ")
	return name
}

// offerAfter returns the offer for the value of a flag, or nil if there is none.
func offerAfter(cmd *cobra.Command, f *pflag.Flag) offer {
	if o, known := values[nameOf(cmd)+" --"+f.Name]; known {
		return o
	}
	if o, known := values["--"+f.Name]; known {
		return o
	}
	switch f.Value.Type() {
	case "int", "int64", "float64", "duration":
		return nothing
	}
	return nil
}

// plain removes the backquotes around the names of values from the help of flags, because a shell shows the text as it is.
func plain(cmd *cobra.Command) {
	unmark := func(f *pflag.Flag) { f.Usage = strings.ReplaceAll(f.Usage, "`", "") }
	cmd.PersistentFlags().VisitAll(unmark)
	cmd.Flags().VisitAll(unmark)
	for _, below := range cmd.Commands() {
		plain(below)
	}
}

// script is the completion script of a shell: cobra's, with changes for values with spaces, which are typed within quotes that are still
// open, or with backslashes.
type script struct {
	write   func(root *cobra.Command, to io.Writer, descriptions bool) error
	changes *strings.Replacer
	more    string // is appended, so that its functions replace earlier ones
}

// closed tries each quote behind the line until one closes it, because bash and zsh do not say which one is open.
const closed = `for open in '' "'" '"'; do
        out=$(eval "${requestComp}${open}" 2>/dev/null)
        [[ -n ${out} ]] && break
    done`

// scripts are the completion scripts by shell.
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

// writeTo writes the script for a program.
func (s script) writeTo(to io.Writer, root *cobra.Command, descriptions bool) error {
	var text bytes.Buffer
	if err := s.write(root, &text, descriptions); err != nil {
		return err
	}
	_, err := io.WriteString(to, s.changes.Replace(text.String())+s.more)
	return err
}

// AddCompletionCommand has `completion SHELL` of a root command print the scripts.
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

// AddAliases gives flags of a command the names that they have in other tools, which help does not mention. A name of one letter is a
// shorthand.
func AddAliases(cmd *cobra.Command, names map[string][]string) {
	flags := cmd.Flags()
	for flag, others := range names {
		for _, other := range others {
			f := &pflag.Flag{Name: other, Value: alias{flags, flag}, Usage: "as --" + flag, Hidden: true, NoOptDefVal: flags.Lookup(flag).NoOptDefVal}
			if len(other) == 1 {
				f.Shorthand = other
			}
			flags.AddFlag(f)
		}
	}
}

// alias is the value of a flag under another name.
type alias struct {
	flags *pflag.FlagSet
	flag  string
}

func (a alias) Set(text string) error { return a.flags.Set(a.flag, text) }
func (a alias) Type() string          { return a.flags.Lookup(a.flag).Value.Type() }
func (a alias) String() string        { return "" }

// newest is the number of runs of a store whose values are offered.
const newest = 200

// readMemory is the memory limit of DuckDB.
const readMemory = 256 << 20

// recent returns columns of the newest runs of the stores, newest first. A store that cannot be read is left out.
func (r request) recent(columns ...string) []schema.Run {
	var all []schema.Run
	for _, dir := range r.stores() {
		db, err := query.Open(r.cmd.Context(), []string{dir}, query.Options{MemoryLimit: readMemory})
		if err != nil {
			continue
		}
		if runs, err := db.Runs(r.cmd.Context(), query.ListRequest{Limit: newest}, columns...); err == nil {
			all = append(all, runs...)
		}
		_ = db.Close() // nothing is written
	}
	return all
}

// textsOf returns the distinct values of a field in the newest runs, in ascending order; the field of a map is one of its entries.
func (r request) textsOf(f filter.Field) []string {
	found := map[string]bool{}
	at := slices.Index(schema.Runs.Columns, f.Column)
	if at < 0 || f.Metric != "" { // of samples: a number
		return nil
	}
	for _, run := range r.recent(f.Column.Name) {
		if text, ok := textOf(schema.RunRow(&run, "")[at], f.Entry); ok {
			found[text] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// textOf returns a value as filters have it.
func textOf(value any, entry string) (text string, ok bool) {
	switch value := value.(type) {
	case string:
		return value, value != ""
	case int64:
		return strconv.FormatInt(value, 10), true
	case float64:
		return strconv.FormatFloat(value, 'g', -1, 64), true
	case bool:
		return strconv.FormatBool(value), true
	case map[string]string:
		text, ok = value[entry]
	}
	return text, ok && text != ""
}

// keysOf returns the keys that maps have in the newest runs, by the column.
func (r request) keysOf(columns ...string) map[string][]string {
	found := map[string]map[string]bool{}
	for _, run := range r.recent(columns...) {
		row := schema.RunRow(&run, "")
		for _, name := range columns {
			entries, _ := row[slices.Index(schema.Runs.Columns, schema.RunColumn(name))].(map[string]string)
			for key := range entries {
				if found[name] == nil {
					found[name] = map[string]bool{}
				}
				found[name][key] = true
			}
		}
	}
	keys := map[string][]string{}
	for name, of := range found {
		keys[name] = slices.Sorted(maps.Keys(of))
	}
	return keys
}

// column returns what a column has in the newest runs.
func column(name string) func(request) []cobra.Completion {
	return func(r request) []cobra.Completion { return r.textsOf(filter.Field{Column: schema.RunColumn(name)}) }
}

// runs returns the newest runs: by their ids, and by the ends of these that other commands show.
func runs(r request) []cobra.Completion {
	all := []cobra.Completion{described("last", "the run that started last")}
	for _, run := range r.recent("run_id", "benchmark", "variant", "status", "started_at") {
		about := strings.TrimSpace(run.Benchmark + " " + run.Variant + " " + string(run.Status) + " " + when(run.StartedAt))
		id := run.RunID
		if r.typed != "" && !strings.HasPrefix(id, r.typed) && len(id) > shortID {
			id = id[len(id)-shortID:]
		}
		all = append(all, described(id, about))
	}
	return all
}

// shortID is how much of a run's id people see.
const shortID = 8

// sessions returns the newest sessions, and the words for them.
func sessions(r request) []cobra.Completion {
	all := []cobra.Completion{described("last", "the session that began last"), described("last~1", "the one before it")}
	seen := map[string]bool{}
	for _, run := range r.recent("session_id", "suite", "started_at") {
		if id := run.SessionID; !seen[id] {
			seen[id] = true
			all = append(all, described(id, strings.TrimSpace(run.Suite+" "+when(run.StartedAt))))
		}
	}
	return all
}

// when returns a time as people read it; empty where it is not known.
func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// metrics returns the metrics with a fixed meaning, and the metrics of the newest runs.
func metrics(r request) []cobra.Completion {
	var all []cobra.Completion
	for _, k := range schema.MetricKinds {
		all = append(all, described(k.Name, k.Meaning))
	}
	for _, name := range r.textsOf(filter.Field{Column: schema.RunColumn("metric")}) {
		if !slices.ContainsFunc(schema.MetricKinds, func(k schema.MetricKind) bool { return k.Name == name }) {
			all = append(all, name)
		}
	}
	slices.SortFunc(all, func(a, b cobra.Completion) int { return cmp.Compare(wordOf(a), wordOf(b)) })
	return all
}

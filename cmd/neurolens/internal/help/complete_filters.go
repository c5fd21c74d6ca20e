package help

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/runner/onnx"
	"github.com/neurolens/neurolens/schema"
)

// Keys that filters have beside columns.
var otherKeys = []cobra.Completion{
	described(filter.KeyRun, "id of a run, or its beginning or end"),
	described(filter.KeySession, "id of a session, last or last~1"),
	described(filter.KeyCommit, "commit of the code, or its beginning"),
	described(filter.KeyBaseline, "name of a baseline"),
}

// usualKeys are the columns that are offered before a letter is typed.
var usualKeys = []string{
	"suite", "benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len", "status", "machine", "gpu_name", "side", "source", "p50", "p99",
}

// entries are the maps of a run by what the keys of their entries begin with.
var entries = []struct{ prefix, column string }{
	{"param.", "params"}, {"tag.", "tags"}, {"env.", "env"}, {"env_missing.", "env_missing"}, {"applied.", "applied"},
}

// filters returns the conditions of a filter: a key with its operator, and then a value. An argument that begins as a value of several
// words goes on as that, and else its last word is a condition of its own.
func filters(r request) ([]cobra.Completion, cobra.ShellCompDirective) {
	at := strings.LastIndexAny(r.typed, " (") + 1
	if at > 0 {
		if all := beginning(r.equals(""), r.typed); len(all) > 0 {
			return all, done
		}
		if strings.Count(r.typed, `"`)%2 == 1 {
			return nil, done // within a quoted value that no run has
		}
	}
	before := r.typed[:at]
	r.typed = r.typed[at:]
	all, then := r.equals(before), done
	if _, op, _ := condition(r.typed); op == "" {
		all, then = r.conditions(), open
	}
	for i := range all {
		all[i] = before + all[i]
	}
	return all, then
}

// equals returns conditions that a key has a value, after the values that were typed before it; before is what the argument has before
// the condition.
func (r request) equals(before string) []cobra.Completion {
	key, op, values := condition(r.typed)
	if !strings.HasSuffix(op, "=") || strings.ContainsAny(op, "<>") {
		return nil
	}
	head, last := key+op, values
	if at := lastComma(values); at >= 0 {
		head, last = head+values[:at+1], values[at+1:]
	}
	return term.Texts(r.valuesOf(key), func(value string) cobra.Completion { return head + valueWord(before+head, last, value) })
}

// lastComma returns where the last comma outside of quotes stands; -1 where there is none.
func lastComma(values string) int {
	at, quoted := -1, false
	for i, c := range values {
		switch {
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			at = i
		}
	}
	return at
}

// orFiles returns an offer where a file may stand in place of it.
func orFiles(o offer) offer {
	return func(r request) ([]cobra.Completion, cobra.ShellCompDirective) {
		all, then := o(r)
		return all, then &^ cobra.ShellCompDirectiveNoFileComp
	}
}

// selections are filters, or a run.
func selections(r request) ([]cobra.Completion, cobra.ShellCompDirective) {
	all, then := filters(r)
	if _, op, _ := condition(r.typed); op != "" || r.typed == "" {
		return all, then
	}
	return append(all, runs(r)...), then
}

// condition cuts a word into its parts.
func condition(word string) (key, op, values string) {
	const signs = "=!<>~"
	at := strings.IndexAny(word, signs)
	if at < 0 {
		return word, "", ""
	}
	values = strings.TrimLeft(word[at:], signs)
	return word[:at], word[at : len(word)-len(values)], values
}

// conditions returns the keys, each with the operator that is most often wanted.
func (r request) conditions() []cobra.Completion {
	var all []cobra.Completion
	for _, key := range r.ordered() {
		name, about, _ := strings.Cut(key, "\t")
		op := "="
		if f := filter.FieldOf(name); f.Column.Kind == schema.KindReal || strings.HasSuffix(name, "_ns") {
			op = "<"
		} else if strings.HasSuffix(name, ".") {
			op = ""
		}
		all = append(all, described(name+op, about))
	}
	if r.typed == "" || strings.HasPrefix(r.typed, filter.MetricPrefix) {
		return all
	}
	for _, m := range metrics(r) { // before an order and a number with a unit, no prefix is needed
		name, about, _ := strings.Cut(m, "\t")
		if filter.FieldOf(name).Bare {
			all = append(all, described(name+"<", about))
		}
	}
	return all
}

// keys returns what filters, groups and orders can all name: the usual columns or, once a letter is typed, all of them; parameters and
// tags of the newest runs; the entries of a map after its name.
func (r request) keys() []cobra.Completion {
	for _, m := range entries {
		if strings.HasPrefix(r.typed, m.prefix) {
			return term.Texts(r.keysOf(m.column)[m.column], func(name string) cobra.Completion { return m.prefix + name })
		}
	}
	var all []cobra.Completion
	if r.typed == "" {
		for _, name := range usualKeys {
			all = append(all, described(name, schema.RunColumn(name).Doc))
		}
	} else {
		all = columns(r)
	}
	all = append(all, otherKeys...)
	for _, m := range entries {
		all = append(all, described(m.prefix, schema.RunColumn(m.column).Doc))
	}
	known := r.keysOf("params", "tags")
	for _, name := range known["params"] {
		all = append(all, described(filter.ParameterKey(name), "parameter"))
	}
	for _, name := range known["tags"] {
		all = append(all, described("tag."+name, "tag"))
	}
	return all
}

// ordered returns what filters and orders can name: keys, and any metric.
func (r request) ordered() []cobra.Completion {
	if !strings.HasPrefix(r.typed, filter.MetricPrefix) {
		return append(r.keys(), described(filter.MetricPrefix, "the median of any metric"))
	}
	return term.Texts(metrics(r), func(m string) cobra.Completion { return filter.MetricPrefix + m })
}

// columns returns the columns of runs that hold one value.
func columns(request) []cobra.Completion {
	var all []cobra.Completion
	for _, c := range schema.Runs.Columns {
		if len(c.Children) == 0 {
			all = append(all, described(c.Name, c.Doc))
		}
	}
	return all
}

// allColumns returns all of them, and the word for that.
func allColumns(request) []cobra.Completion {
	all := []cobra.Completion{described("all", "every column")}
	for _, c := range schema.Runs.Columns {
		all = append(all, described(c.Name, c.Doc))
	}
	return append(all, described("spread", "1.4826 mad / p50: how much samples vary"))
}

// orders returns keys to sort by, after a - for the largest first.
func orders(r request) []cobra.Completion {
	at := strings.LastIndex(r.typed, ",") + 1
	sign := ""
	if strings.HasPrefix(r.typed[at:], "-") {
		sign = "-"
	}
	r.typed = r.typed[at+len(sign):]
	return term.Texts(r.ordered(), func(key string) cobra.Completion { return sign + key })
}

// groups returns keys to group by.
func groups(r request) []cobra.Completion {
	r.typed = r.typed[strings.LastIndex(r.typed, ",")+1:]
	return r.keys()
}

// valuesOf returns values of a key: those that it can have, where these are known, and those of the newest runs.
func (r request) valuesOf(key string) []cobra.Completion {
	switch key {
	case filter.KeySession:
		return sessions(r)
	case filter.KeyRun:
		return runs(request{completer: r.completer, cmd: r.cmd})
	case "status":
		return append(term.Texts(schema.Statuses, func(s schema.Status) cobra.Completion { return string(s) }), filter.Failed)
	}
	return r.textsOf(filter.FieldOf(key))
}

// valueWord returns a text as a value after what an argument has before it. It is in quotes only where it would be something else without,
// or where a quote was typed: an argument that is one value of several words needs none.
func valueWord(head, typed string, value cobra.Completion) string {
	text := wordOf(value)
	special := strings.ContainsAny(text, " \t\"(),") || strings.ContainsAny(text[:1], "=<>~") || text == "null"
	quoted := filter.Quote(text)
	if strings.HasPrefix(typed, `"`) || special && filter.JoinArguments(head+text) != head+quoted {
		return quoted
	}
	return value
}

// assignments are KEY=VALUE, for one value of one key.
func assignments(r request) ([]cobra.Completion, cobra.ShellCompDirective) {
	key, _, found := strings.Cut(r.typed, "=")
	var all []cobra.Completion
	if !found {
		for _, c := range r.keys() {
			name, about, _ := strings.Cut(c, "\t")
			if strings.HasSuffix(name, ".") {
				all = append(all, c)
			} else {
				all = append(all, described(name+"=", about))
			}
		}
		return all, open
	}
	for _, value := range r.valuesOf(key) { // as they are: quotes would be part of them
		all = append(all, key+"="+value)
	}
	return all, done
}

// tags are KEY=VALUE of tags.
func tags(r request) ([]cobra.Completion, cobra.ShellCompDirective) {
	key, _, found := strings.Cut(r.typed, "=")
	var all []cobra.Completion
	if !found {
		for _, name := range tagNames(r) {
			all = append(all, name+"=")
		}
		return all, open
	}
	for _, text := range r.textsOf(filter.Field{Column: schema.RunColumn("tags"), Entry: key}) {
		all = append(all, key+"="+text)
	}
	return all, done
}

// tagNames returns the keys of tags.
func tagNames(r request) []cobra.Completion { return r.keysOf("tags")["tags"] }

// values are what follows flags: of one command, or of all that have a flag of that name. Numbers and times are nothing's business.
var values = map[string]offer{
	"--format": completionWords(term.Formats...), "--color": completionWords("auto", "always", "never"), "--store": folders,
	"export --format": completionWords("parquet", "arrow", "csv", "jsonl", "openmetrics"),
	"query --format":  completionWords(append([]cobra.Completion{"arrow"}, term.Formats...)...),

	// what runs
	"--config": ending(sweepEndings...), "--sweep": ending(sweepEndings...), "--param": axes, "--preset": one(presets), "--targets": one(targets),
	"--set": settings, "bench --against": one(commits), "--python": files, "--suite": one(column("suite")), "--log": files,
	"--iterations-per-sample": nothing, "--stdin": files, "--output": orFiles(completionWords("null", "keep")), "--shell": completionWords("sh", "bash"),
	"--prepare": nothing, "--setup": nothing, "--cleanup": nothing, "--ignore-exit": completionWords("true"),
	"--device": completionWords("cpu", "cuda", "cuda:0", "mps"), "--provider": completionWords("CPUExecutionProvider", "CUDAExecutionProvider", "TensorrtExecutionProvider"),
	"--rerun": completionWords("failed", "all"), "--tag": tags, "--rel-error": nothing,
	"--shard": completionWords("auto"), "--campaign": nothing, "--devices": completionWords("all"),

	// which runs
	"--backend": one(column("backend")), "--model": one(column("model")), "--gpu": one(column("gpu_name")), "ls --precision": one(column("precision")),
	"--since": completionWords("24h", "7d", "2w"), "--day": nothing, "--like": one(runs), "report --against": filters, "--filter": filters,

	// what is shown
	"--columns": list(allColumns), "--sort": list(orders), "--by": list(groups), "--pivot": one(groups), "--metric": list(metrics), "explain --metric": one(metrics),
	"history --metric": one(metrics), "bisect --metric": one(metrics), "--matrix": assignments, "--baseline": assignments,
	"--threshold": nothing, "show --sort": one(operatorOrders), "--method": completionWords("sbs", "otava"), "--memory-limit": completionWords("512MiB", "1GiB", "4GiB"),

	// what is drawn
	"--spec": completionWords("vega-lite"), "--title": nothing, "plot heatmap --x": one(groups), "plot heatmap --y": one(groups), "plot heatmap --by": one(groups), "plot heatmap --metric": one(metrics),
	"plot lines --x": one(groups), "plot lines --y": one(metrics), "plot lines --by": one(groups), "plot lines --panels": one(groups), "plot lines --metric": one(metrics),
	"plot pareto --x": one(metrics), "plot pareto --y": one(metrics), "plot history --metric": one(metrics),
	"notebook --metric": one(metrics), "plot ecdf --by": one(groups), "plot ecdf --metric": one(metrics), "plot runs --by": one(groups), "plot runs --metric": one(metrics), "plot ecdf --against": filters, "plot runs --against": filters,
	"plot strip --by": one(groups), "plot strip --metric": one(metrics),

	// files
	"--out-dir": folders, "--save": folders, "--in": folders, "--into": folders, "--check": files, "--md": files, "--html": files, "report --json": files, "--to": files, "--out": files, "notebook --out": ending("ipynb"),
	"--table": completionWords("runs", "samples", "samples_long", "ops", "whole"), "--map": ending(sweepEndings...),

	// files of others
	"--from": one(foreignFormats), "ingest --param": nothing, "--param-from-path": nothing, "--machine": one(column("machine")), "--at": completionWords("name\tthe date in the name of the file", "path\tthe date in its name or its folders", "mtime\twhen it was changed", "commit\tthe time of its git commit"),
	"--tz": completionWords("Local", "UTC"), "--precision": completionWords(onnx.Precisions()...),

	"--remove": one(tagNames), "--older": completionWords("30d", "90d", "52w"),
}

// buckets are how the URL of one begins.
func buckets(request) ([]cobra.Completion, cobra.ShellCompDirective) {
	return []cobra.Completion{"s3://"}, open
}

// arguments are what commands take. Those that are not here take none.
var arguments = map[string]offer{
	"bench": files, "discover": folders, "ingest": files, "store merge": folders, "store push": first(buckets), "store verify": first(buckets), "store pull": first(buckets), "store sync": first(buckets), "query": nothing, "model gen": first(completionWords(onnx.Names()...)),
	"bisect": each(one(commits), one(commits), ending(sweepEndings...)),
	"show":   first(one(runs)), "ls": filters, "history": filters, "report": filters, "notebook": filters, "export": each(files, filters),
	"compare": first(orFiles(filters), orFiles(filters)), "explain": first(orFiles(filters), orFiles(filters)),
	"plot forest": first(orFiles(filters), orFiles(filters)), "plot scatter": first(orFiles(filters), orFiles(filters)), "plot history": filters, "plot ecdf": filters,
	"plot runs": filters, "plot strip": filters, "plot ops": filters, "plot heatmap": filters, "plot lines": filters, "plot pareto": filters,
	"plot telemetry": first(one(runs)), "plot flame": first(one(runs)),
	"tag": each(selections, tags), "note": first(selections), "rm": first(selections), "restore": first(selections), "bless": first(selections),
}

// each returns offers for the first arguments, the last of them also for all that follow.
func each(all ...offer) offer {
	return func(r request) ([]cobra.Completion, cobra.ShellCompDirective) {
		return all[min(len(r.args), len(all)-1)](r)
	}
}

// first returns offers for the first arguments, after which nothing follows.
func first(all ...offer) offer { return each(append(all, nothing)...) }

// operatorOrders returns what the operators of a run are ordered by.
func operatorOrders(request) (all []cobra.Completion) {
	for _, key := range summary.OperatorSortKeys() {
		all = append(all, key, "-"+key)
	}
	return all
}

// foreignFormats returns the formats that ingest reads.
func foreignFormats(request) []cobra.Completion {
	return term.Texts(formats.All(), func(f foreign.Format) cobra.Completion { return described(f.Name, f.About) })
}

// commands are what other tools call commands, and what does it here.
var commands = map[string]string{
	"list": "ls does that", "find": "ls does that: neurolens ls KEY=VALUE", "search": "ls does that: neurolens ls KEY=VALUE",
	"filter": "ls does that: neurolens ls KEY=VALUE", "runs": "ls lists runs", "top": "ls --sort does that",
	"diff": "compare does that", "cmp": "compare does that", "benchstat": "compare does that", "vs": "compare does that",
	"check": "compare --gate does that", "gate": "compare --gate does that",
	"delete": "rm does that", "remove": "rm does that", "del": "rm does that", "clean": "rm removes runs, store prune-artifacts their files",
	"gc": "store prune-artifacts does that", "prune": "store prune-artifacts does that", "undelete": "restore does that",
	"run": "bench does that", "benchmark": "bench does that", "measure": "bench does that", "exec": "bench does that: neurolens bench -- PROGRAM",
	"hyperfine": "bench does that: neurolens bench 'PROGRAM' 'PROGRAM'", "time": "bench does that: neurolens bench -- PROGRAM", "sweep": "bench does that: neurolens bench SWEEP.yaml",
	"rerun": "bench SWEEP.yaml --rerun failed does that, or --rerun all", "resume": "bench SWEEP.yaml continues where it was interrupted",
	"continuous": "bench SWEEP.yaml --against COMMIT does that", "profile": "bench --profile TOOL does that",
	"stat": "ls --by KEYS summarizes groups, show RUN one run", "stats": "ls --by KEYS summarizes groups, show RUN one run", "summary": "report does that, or ls --by KEYS",
	"hist": "history does that", "log": "history does that, or ls", "trend": "history does that", "trends": "history does that",
	"graph": "plot does that", "chart": "plot does that", "draw": "plot does that", "figure": "plot does that", "cdf": "plot ecdf does that", "ecdf": "plot ecdf does that",
	"forest": "plot forest does that", "scatter": "plot scatter does that", "heatmap": "plot heatmap does that", "pareto": "plot pareto does that", "publish": "report does that",
	"jupyter": "notebook does that", "ipynb": "notebook does that", "html": "report does that", "preview": "report does that",
	"import": "ingest does that", "add": "ingest does that: neurolens ingest FILE", "load": "ingest does that", "read": "ingest does that",
	"dump": "export does that", "save": "export does that, and bless for a baseline", "baseline": "bless does that", "sql": "query does that", "select": "query does that: neurolens query 'SELECT ...'",
	"init": "store init does that", "info": "store info does that", "status": "store info does that", "verify": "store verify does that", "fsck": "store verify does that",
	"repair": "store repair does that", "merge": "store merge does that", "compact": "store compact does that", "views": "store views does that",
	"view": "show does that", "cat": "show does that", "get": "show does that", "inspect": "show does that", "describe": "show does that",
	"machine": "env does that", "settings": "config does that", "sysinfo": "env does that", "system": "doctor says what disturbs measurements", "tune": "doctor says what disturbs measurements",
	"why": "explain does that", "annotate": "tag or note does that", "label": "tag does that", "blame": "bisect does that", "man": "neurolens COMMAND --help does that",
}

// commandsBelow are likewise those below a command.
var commandsBelow = map[string]map[string]string{
	"store": {
		"ls": "ls lists runs, store info says what is in the store", "list": "ls lists runs, store info says what is in the store",
		"show": "store info does that", "status": "store info does that", "stat": "store info does that", "du": "store info does that",
		"create": "store init does that", "new": "store init does that", "check": "store verify does that", "fsck": "store verify does that",
		"fix": "store repair does that", "gc": "store prune-artifacts does that", "clean": "store prune-artifacts does that", "copy": "store merge does that",
		"import": "store merge copies another store, ingest reads files", "rm": "rm removes runs", "delete": "rm removes runs",
	},
	"plot": {
		"cdf": "plot ecdf does that", "distribution": "plot ecdf does that", "histogram": "plot ecdf shows how samples are distributed", "hist": "plot ecdf shows how samples are distributed",
		"violin": "plot ecdf shows how samples are distributed", "box": "plot ecdf shows how samples are distributed", "strip": "plot runs does that", "samples": "plot runs does that",
		"compare": "plot forest does that", "diff": "plot forest does that", "trend": "plot history does that", "line": "plot lines does that", "bar": "plot lines does that",
		"heat": "plot heatmap does that", "grid": "plot heatmap does that", "matrix": "plot heatmap does that", "front": "plot pareto does that",
	},
	"model": {"list": "model gen NAME makes one", "new": "model gen does that", "create": "model gen does that"},
}

// flags are what other tools call flags, and the flag that does it here, or how it is done without one.
var flags = map[string]string{
	"f": "--format", "o": "--out-dir", "n": "--limit", "j": "--json", "v": "--version", "V": "neurolens version says it", "version": "neurolens version says it",
	"a": "--all", "q": "> /dev/null discards standard output", "quiet": "> /dev/null discards standard output",
	"output": "> FILE writes standard output to a file", "csv": "did you mean --format csv?", "md": "did you mean --format md?",
	"markdown": "did you mean --format md?", "jsonl": "did you mean --format jsonl?", "plain": "did you mean --format plain?", "db": "--store",
	"filter": "a filter is an argument without a flag: precision=fp32", "where": "a filter is an argument without a flag: precision=fp32",
	"k": "a filter is an argument without a flag: precision=fp32", "only": "a filter is an argument without a flag: precision=fp32",
	"group-by": "--by", "group": "--by", "col": "--by", "row": "--by", "order-by": "--sort", "sort-by": "--sort", "style": "--color",
	"no-color": "--color", "u": "units are chosen for each value; --json has stored units",
	"time-unit": "units are chosen for each value; --json has stored units", "unit": "units are chosen for each value; --json has stored units",
	"benchmark-compare": "neurolens compare session=last~1 session=last does that",
}

// flagsOf are likewise those of single commands, which come first.
var flagsOf = map[string]map[string]string{
	"bench": {
		// hyperfine
		"m": "--repeats", "min-runs": "--rel-error X measures until the interval is narrow, --repeats N sets the number",
		"M": "--max-repeats", "max-runs": "--max-repeats", "C": "--cleanup", "conclude": "--cleanup",
		"N": "programs run without a shell unless --shell is given: leave -N out", "S": "--shell=bash does that", "ignore-failure": "--ignore-exit",
		"n": "--suite", "command-name": "--suite", "L": "-P NAME=VALUE,VALUE sets a parameter: -P n=1,2", "parameter-list": "-P NAME=VALUE,VALUE sets a parameter: -P n=1,2",
		"parameter-scan": "-P NAME=FROM..TO sets a range: -P n=1..8", "D": "-P NAME=FROM..TO..STEP sets a range: -P n=1..8..2",
		"parameter-step-size": "-P NAME=FROM..TO..STEP sets a range: -P n=1..8..2", "input": "--stdin", "show-output": "show RUN has what a program wrote to standard error",
		"export-json": "--json > FILE does that, and every run is stored in any case", "export-csv": "--format csv > FILE does that, and every run is stored in any case",
		"export-markdown": "--format md > FILE does that, and every run is stored in any case", "export-asciidoc": "--format md > FILE comes closest, and every run is stored in any case",
		"reference": "put it first: later programs are compared with the first one",
		// benchmarks of Go and C++
		"count": "--repeats", "benchtime": "--budget", "benchmark_repetitions": "--repeats", "benchmark_min_time": "--budget",
		"benchmark_filter": "write the options of a program in its quotes: neurolens bench './bm --benchmark_filter=X'",
		// benchmarks of Python, asv, ReBench, nvbench
		"benchmark-warmup": "--warmup", "benchmark-min-rounds": "--repeats", "benchmark-max-time": "--budget",
		"benchmark-compare-fail": "neurolens compare --gate --threshold 5% does that", "benchmark-autosave": "every run is stored: leave it out", "benchmark-save": "every run is stored: neurolens bless names a baseline",
		"skip-existing": "bench continues with what is missing: leave it out", "append-samples": "every run is kept, also earlier ones: leave it out", "interleave-rounds": "the order is interleaved: leave it out",
		"in": "--repeats", "it": "--iterations", "min-samples": "--iterations", "samples": "--iterations", "max-noise": "--rel-error", "min-time": "--budget", "devices": "--device", "d": "--device",
		"axis": "-P AXIS=VALUE,VALUE sets an axis", "b": "--targets", "benchmark": "--targets", "only": "--targets", "filter": "--targets", "k": "--targets",
		"timeout": "--set timeouts.measure=10s limits a stage, --max-time the whole command", "t": "--max-time", "batch-size": "-P batch_size=2 sets an axis", "batch": "-P batch_size=2 sets an axis",
		"seq-len": "-P seq_len=64 sets an axis", "seq": "-P seq_len=64 sets an axis", "precision": "-P precision=fp32 sets an axis", "dtype": "-P precision=fp32 sets an axis",
		"backend": "--set backend=NAME does that", "model": "--set model=FILE does that", "resume": "bench continues with what is missing: leave it out", "force": "--rerun all measures again", "dryrun": "--dry-run",
		"n-runs": "--repeats", "num-runs": "--repeats", "reps": "--repeats", "loops": "--iterations", "iters": "--iterations", "warm-up": "--warmup", "warmup-iterations": "--warmup",
		"compare": "neurolens compare session=last~1 session=last does that", "baseline": "--against COMMIT measures another commit, neurolens compare baseline=NAME session=last compares",
		"save": "every run is stored", "out": "--out-dir", "name": "--suite", "threads": "--set env.OMP_NUM_THREADS=4 does that",
	},
	"compare": {
		"base": "BASE and HEAD are arguments without flags: neurolens compare session=last~1 session=last", "head": "BASE and HEAD are arguments without flags: neurolens compare session=last~1 session=last",
		"baseline": "a baseline is the first argument: neurolens compare baseline=NAME session=last", "fail-on-regression": "--gate does that", "fail": "--gate does that", "err": "--gate does that",
		"benchmark-compare-fail": "--gate --threshold 5% does that", "factor": "--threshold 10% does that", "f": "--threshold 10% does that", "alpha": "the false discovery rate is fixed at 5 %; --strict is stricter",
		"confidence": "intervals are 95 % confidence intervals", "only-changed": "a table shows only changes unless --all is given", "split": "rows are sorted by verdict", "table": "--by",
		"ignore": "axes that both filters name are ignored; --by KEYS groups the rest", "min-change": "--threshold",
	},
	"ls": {
		"last": "--limit", "l": "--columns all with --format csv has everything", "all": "--limit 0 shows all", "a": "--limit 0 shows all", "head": "--limit", "max": "--limit", "reverse": "--sort -KEY sorts the other way round",
		"r": "--sort -KEY sorts the other way round", "t": "--sort when", "batch-size": "--batch", "seq-len": "--seq", "dtype": "--precision", "status": "a filter does that: status=error",
		"session": "a filter does that: session=last", "machine": "a filter does that: machine=NAME", "fields": "--columns", "group-by": "--by", "before": "--day, or a filter: when=..2026-11-01", "until": "a filter does that: when=..2026-11-01", "after": "--since",
	},
	"history": {"last": "--limit", "fail": "--gate does that"},
	"doctor":  {"fix": "doctor changes nothing: paste the commands that it prints", "apply": "doctor changes nothing: paste the commands that it prints"},
	"rm":      {"force": "rm does not ask, and restore brings runs back: leave it out", "f": "rm does not ask, and restore brings runs back: leave it out", "r": "rm takes a filter: neurolens rm session=last", "rf": "rm takes a filter: neurolens rm session=last"},
}

package help

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
		// benchmarks of Python, asv, ReBench, nvbench
		"benchmark-warmup": "--warmup", "benchmark-min-rounds": "--repeats", "benchmark-max-time": "--budget", "benchmark-compare": "neurolens compare session=last~1 session=last does that",
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
		"ignore": "axes that are constant on each side are ignored; --by KEYS groups the rest", "min-change": "--threshold",
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

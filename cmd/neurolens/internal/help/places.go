package help

import (
	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/runner/onnx"
)

// values are what follows flags: of one command, or of all that have a flag of that name. Numbers and times are nothing's business.
var values = map[string]offer{
	"--format": completionWords(term.Formats...), "--color": completionWords("auto", "always", "never"), "--store": folders,
	"export --format": completionWords(append([]cobra.Completion{"parquet", "arrow"}, term.Formats...)...),
	"query --format":  completionWords(append([]cobra.Completion{"arrow"}, term.Formats...)...),

	// what runs
	"--config": ending(sweepEndings...), "--sweep": ending(sweepEndings...), "--param": axes, "--preset": one(presets), "--targets": one(targets),
	"--set": settings, "bench --against": one(commits), "--python": files, "--suite": one(column("suite")), "--log": files,
	"--iterations-per-sample": nothing, "--stdin": files, "--output": orFiles(completionWords("null", "keep")), "--shell": completionWords("sh", "bash"),
	"--prepare": nothing, "--setup": nothing, "--cleanup": nothing, "--ignore-exit": completionWords("true"),
	"--device": completionWords("cpu", "cuda", "cuda:0", "mps"), "--provider": completionWords("CPUExecutionProvider", "CUDAExecutionProvider", "TensorrtExecutionProvider"),
	"--rerun": completionWords("failed", "all"), "--tag": tags, "--rel-error": nothing,

	// which runs
	"--backend": one(column("backend")), "--model": one(column("model")), "--gpu": one(column("gpu_name")), "ls --precision": one(column("precision")),
	"--since": completionWords("24h", "7d", "2w"), "--day": nothing, "--like": one(runs), "report --against": filters,

	// what is shown
	"--columns": list(allColumns), "--sort": list(orders), "--by": list(groups), "--metric": list(metrics), "explain --metric": one(metrics),
	"history --metric": one(metrics), "bisect --metric": one(metrics), "--matrix": assignments, "--baseline": assignments,
	"--threshold": nothing, "show --sort": one(operatorOrders), "--method": completionWords("sbs", "otava"), "--memory-limit": completionWords("512MiB", "1GiB", "4GiB"),

	// what is drawn
	"--spec": completionWords("vega-lite"), "plot heatmap --x": one(groups), "plot heatmap --y": one(groups), "plot heatmap --by": one(groups), "plot heatmap --metric": one(metrics),
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

// arguments are what commands take. Those that are not here take none.
var arguments = map[string]offer{
	"bench": files, "discover": folders, "ingest": files, "store merge": folders, "query": nothing, "model gen": first(completionWords(onnx.Names()...)),
	"bisect": each(one(commits), one(commits), ending(sweepEndings...)),
	"show":   first(one(runs)), "ls": filters, "history": filters, "report": filters, "notebook": filters, "export": each(files, filters),
	"compare": first(orFiles(filters), orFiles(filters)), "explain": first(orFiles(filters), orFiles(filters)),
	"plot forest": first(orFiles(filters), orFiles(filters)), "plot scatter": first(orFiles(filters), orFiles(filters)), "plot history": filters, "plot ecdf": filters,
	"plot runs": filters, "plot strip": filters, "plot ops": filters, "plot heatmap": filters, "plot lines": filters, "plot pareto": filters,
	"tag": each(selections, tags), "note": first(selections), "rm": first(selections), "restore": first(selections), "bless": first(selections),
}

// each are offers for the first arguments, the last of them also for all that follow.
func each(all ...offer) offer {
	return func(r request) ([]cobra.Completion, cobra.ShellCompDirective) {
		return all[min(len(r.args), len(all)-1)](r)
	}
}

// first are offers for the first arguments, after which nothing follows.
func first(all ...offer) offer { return each(append(all, nothing)...) }

// operatorOrders are what the operators of a run are ordered by.
func operatorOrders(request) (all []cobra.Completion) {
	for _, key := range summary.OperatorSortKeys() {
		all = append(all, key, "-"+key)
	}
	return all
}

// foreignFormats are the formats that ingest reads.
func foreignFormats(request) (all []cobra.Completion) {
	for _, f := range formats.All() {
		all = append(all, described(f.Name, f.About))
	}
	return all
}

package prepare

import (
	"strings"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// The facts that identify a run for a later session that continues its session.
const (
	FactPoints      = "sweep.points_sha256" // identifies sessions with the same points
	FactBuild       = "build.sha256"        // the hash of the files that builds made
	factCommand     = "command.sha256"      // the hash of the program of a command
	FactCommandFile = "command.sha256."     // the hash of a file that a command names; the word follows
	FactConfig      = schema.FactConfig
	FactInstalled   = "python.installed." // the version of a package of an interpreter; its name follows

	// factCommandLine is the fact with the arguments of a command, less their secrets.
	factCommandLine = "runner.command"

	FactTree        = "git.tree"    // the hash of the files of the working tree
	FactTreeChanged = "git.changed" // the files that differ from those of the commit; see worktree.Code

	factBenchmark  = "benchmark.sha256"
	factReference  = "reference.sha256" // the hash of a file that outputs are compared with
	factOpset      = "model.opset"
	factParameters = "model.parameters"
	factWeights    = "model.weights." // the number of weights in a format; the format follows
	factExternal   = "model.external" // the number of files with external data
	factSetting    = "runner."        // a setting of a launch; the key of the sweep file follows
	factObject     = "runner.object"  // the object of the Python file that runs
	// factAxis is the prefix of facts about axes whose canonical text differs from how they are written; the axis follows.
	factAxis = "runner.axis."
	// factScale is the prefix of facts with the bases of axes that depend on the machine; the axis follows.
	factScale = "runner.scale."
)

// CodeFacts are the facts that are equal in two runs of the same code and configuration.
func CodeFacts() []string {
	return []string{FactTree, factBenchmark, factCommand, factReference, FactBuild, FactConfig}
}

// IsSetting reports whether a fact is a setting of a launch.
func IsSetting(fact string) bool {
	key, is := strings.CutPrefix(fact, factSetting)
	return fact == factObject || is && sweep.IsStored(key)
}

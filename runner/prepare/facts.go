package prepare

import (
	"strings"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// The facts of a run that tell what it was of, for a later session that goes on from it.
const (
	FactPoints      = "sweep.points_sha256" // by which sessions of the same points are known
	FactBuild       = "build.sha256"        // the hash of what the commands of build: made
	factCommand     = "command.sha256"      // the hash of the program of a command
	FactCommandFile = "command.sha256."     // that of another word of it that is a file; the word follows
	FactConfig      = schema.FactConfig
	FactInstalled   = "python.installed." // the version of a package of an interpreter; its name follows

	// factCommandLine is the fact with the arguments of a command, less their secrets.
	factCommandLine = "runner.command"

	factBenchmark = "benchmark.sha256"
	factReference = "reference.sha256" // of a file that outputs are compared with
	factSetting   = "runner."          // a setting of a launch; the key of the sweep file follows
	factObject    = "runner.object"    // what of the Python file runs
	// factAxis begins the facts of axes whose canonical text does not say how to write them again; the axis follows.
	factAxis = "runner.axis."
	// factScale begins the facts with the bases of axes that depend on the machine; the axis follows.
	factScale = "runner.scale."
)

// CodeFacts are the facts that are equal in two runs of the same code and configuration.
func CodeFacts() []string {
	return []string{"git.tree", factBenchmark, factCommand, factReference, FactBuild, FactConfig}
}

// IsSetting reports whether a fact is a setting of a launch.
func IsSetting(fact string) bool {
	key, is := strings.CutPrefix(fact, factSetting)
	return fact == factObject || is && sweep.IsStored(key)
}

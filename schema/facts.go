package schema

import "slices"

// Facts of Env that both who writes runs and who compares them have to know.
const (
	// FactControl is "true" in runs of points that the sweep names as controls: the change under test cannot touch them. It says
	// what a point is for, not what is measured: it is no setting, and a run without it counts when a session goes on.
	FactControl = "runner.control"

	// FactBaseline is the baseline that the sweep names, as axis=value: what the other values of that axis are compared with. It is
	// no setting.
	FactBaseline = "runner.baseline"

	// FactLooks is in runs of a session that went on until the comparison of its sides was settled: after how many repeats
	// there was to be a look, ascending and separated by commas.
	FactLooks = "runner.looks"
	// FactOrigins is the fact with the layer that each given setting comes from, as JSON: {"iterations":"preset quick"}.
	FactOrigins = "runner.origins"

	// FactConfig is the hash of all that a run was told, also of settings whose values are not stored.
	FactConfig = "runner.config_sha256"

	// FactSession is what a foreign file calls the session of a run.
	FactSession = "source.session"

	// FactPath is where a run was read: the path of the foreign file in the folder that the user named, or its own name.
	FactPath = "source.path"
)

// WarnUnchecked is the word of warning of a run whose result could not be checked: it may be wrong, and so it wins nowhere.
const WarnUnchecked = "unchecked"

// The kinds of error of the stage validate that say that a result is wrong. Others say that it could not be read.
const (
	KindValidate         = "validate"          // the benchmark's own check says so, or there is nothing to compare
	KindOutput           = "output"            // the output is not that of the reference, is not finite, or is none
	KindCheck            = "check"             // it does not meet a condition of the sweep
	KindNotDeterministic = "not_deterministic" // it is not that of another run
)

// WrongResults are these kinds.
var WrongResults = []string{KindValidate, KindOutput, KindCheck, KindNotDeterministic}

// IsWrong tells whether a run ended because what it computed is wrong. However fast it was, it wins nowhere.
func IsWrong(status Status, stage Stage, kind string) bool {
	return status == StatusError && stage == StageValidate && slices.Contains(WrongResults, kind)
}

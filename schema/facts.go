package schema

// Facts of Env that say what a run was for, and that both who runs and who compares it have to know.
const (
	// FactControl is "true" in runs of points that the sweep names as controls: the change under test cannot touch them. It says
	// what a point is for, not what is measured: it is no setting, and a run without it counts when a session goes on.
	FactControl = "runner.control"

	// FactLooks is in runs of a session that went on until the comparison of its sides was settled: after how many repeats
	// there was to be a look, ascending and separated by commas.
	FactLooks = "runner.looks"
)

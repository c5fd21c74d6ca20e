package check

// For the tests whose files are in memory, or fail.
var (
	VerifyFiles = verifyFiles
	PlanFiles   = planFiles
	OpenFiles   = openFiles
)

package layout

import (
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// outNames are what the files of a claim are called until they are linked, in its first attempt.
var outNames = map[*schema.Table]string{schema.Runs: "runs.out", schema.Samples: "samples.out", schema.Ops: "ops.out"}

// OutName is what the file of a table is called in an attempt. Each has names of its own: an operation of the one before
// that was under way when the claim was taken over may still happen in it, and must not meet what is written now.
func OutName(t *schema.Table, attempt int) string {
	if attempt == 0 {
		return outNames[t]
	}
	stem := strings.TrimSuffix(outNames[t], outSuffix)
	return stem + "." + strconv.Itoa(attempt) + outSuffix
}

const outSuffix = ".out"

// IsOut tells whether a name in a claim is one that OutName gives.
func IsOut(name string) bool {
	stem, ok := strings.CutSuffix(name, outSuffix)
	stem, attempt, later := strings.Cut(stem, ".")
	n, err := strconv.Atoi(attempt)
	if later && (err != nil || n < 1 || strconv.Itoa(n) != attempt) {
		return false
	}
	return ok && (stem+outSuffix == outNames[schema.Runs] || stem+outSuffix == outNames[schema.Samples] || stem+outSuffix == outNames[schema.Ops])
}

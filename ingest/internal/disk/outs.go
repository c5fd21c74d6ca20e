package disk

import (
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// outNames are the names of the files that a claim writes, in its first attempt, until they are linked.
var outNames = map[*schema.Table]string{schema.Runs: "runs.out", schema.Samples: "samples.out", schema.Ops: "ops.out"}

// OutName returns the name of the file for a table in an attempt of a claim. Each attempt has its own names: a late operation
// of an earlier attempt may still happen, and must not hit the new files.
func OutName(t *schema.Table, attempt int) string {
	if attempt == 0 {
		return outNames[t]
	}
	stem := strings.TrimSuffix(outNames[t], outSuffix)
	return stem + "." + strconv.Itoa(attempt) + outSuffix
}

const outSuffix = ".out"

// IsOut reports whether a name in a claim is one of OutName.
func IsOut(name string) bool {
	stem, ok := strings.CutSuffix(name, outSuffix)
	stem, attempt, later := strings.Cut(stem, ".")
	n, err := strconv.Atoi(attempt)
	if later && (err != nil || n < 1 || strconv.Itoa(n) != attempt) {
		return false
	}
	return ok && (stem+outSuffix == outNames[schema.Runs] || stem+outSuffix == outNames[schema.Samples] || stem+outSuffix == outNames[schema.Ops])
}

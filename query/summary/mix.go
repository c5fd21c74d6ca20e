package summary

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
)

// Types that say what kind of entry an operator is, but do not identify it. They are as the tools write them.
var (
	// spans contain or call other entries, so their time is that of the others.
	spans = []string{
		"nvtx", "cuda_api", "cuda_runtime", "cuda_driver", "runtime", "driver", "osrt", "user_annotation", "gpu_user_annotation",
		"python_function", "overhead", "session", "api", "xpu_runtime", "xpu_driver",
	}
	// device are entries that a device executes.
	device = []string{"kernel", "graph", "memcpy", "memset", "gpu_memcpy", "gpu_memset", "layer"}
	// host are operators of the host. Their time includes the operators that they call.
	host = []string{"cpu_op", "operator"}
)

// IsNestedOperator reports whether entries of a type contain, start or call other entries, so that their time includes the time of those.
func IsNestedOperator(kind string) bool {
	kind = strings.ToLower(kind)
	return slices.Contains(spans, kind) || slices.Contains(host, kind)
}

// unitScale converts shares to integers, so that their sum does not depend on the order of the addition.
const unitScale = "1e15"

// The units of sizes, in the order of preference: bytes of tensors, bytes moved, floating-point operations. Counters of tensors are per
// call, the others are totals.
const (
	unitTensors = "B of tensors"
	unitMoved   = "B"
	unitFlops   = "flop"
)

// opsSQL returns the SQL of the operators of ops with a duration: run, duration_ns, level, operator, calls, and the columns of more. run is
// the SQL of the run, and joined follows ops.
func opsSQL(run, ops, joined, more string) string {
	named := "coalesce(nullif(name, ''), nullif(type, ''), 'unknown')"
	return "(SELECT run, duration_ns, calls, level, CASE WHEN level = 1 THEN coalesce(nullif(type, ''), " + named + ") ELSE " + named + " END AS operator" + more +
		" FROM (SELECT " + run + " AS run, name, type, duration_ns" + more + ", " + levelSQL("lower(coalesce(type, ''))") + " AS level, greatest(coalesce(count, 1), 1) AS calls FROM " +
		ops + joined + " WHERE duration_ns > 0) WHERE level IS NOT NULL)"
}

// mixSQL returns the SQL of the mixes of the runs in parameter $1, a list of ids: run_id, operator, share, size, unit.
func mixSQL(ops string) string {
	has := func(name string) string { return counter(name) + " IS NOT NULL" }
	unit := "CASE WHEN " + has("output_size") + " THEN '" + unitTensors + "' WHEN " + has("bytes") + " THEN '" + unitMoved + "' WHEN " + has("flops") + " THEN '" + unitFlops + "' END"
	rows := "SELECT *, " + sizedSQL("unit") + " AS sized FROM (SELECT *, " + unit + " AS unit FROM " + opsSQL("run_id", ops, scan.OfRuns, ", counters") + ")"
	sums := "SELECT run, level, operator, sum(duration_ns) AS took, " + sizeSQL("count(*)", "count(sized)", "sum(sized)", "sum(calls)", "min(unit) = max(unit)") + " AS size, min(unit) AS unit " +
		"FROM (" + rows + ") GROUP BY run, level, operator"
	return "WITH o AS MATERIALIZED (" + sums + ") SELECT run, operator, " + shareSQL + ", size, unit FROM o" + lowestSQL + " ORDER BY run"
}

// lowestSQL restricts the sums o of a run's operators to the lowest level that it has; shareSQL is the share of one of them.
const (
	lowestSQL = " JOIN (SELECT run, level, sum(took) AS total FROM o GROUP BY run, level) AS t USING (run, level)" +
		" JOIN (SELECT run, min(level) AS level FROM o GROUP BY run) AS b USING (run, level)"
	shareSQL = "o.took::DOUBLE / t.total::DOUBLE"
)

// levelSQL returns the level of an operator by its type; NULL for a span. The mix of a run has the operators of its lowest level.
func levelSQL(kind string) string {
	in := func(words []string) string {
		list := make([]string, len(words))
		for i, word := range words {
			list[i] = duck.Literal(word)
		}
		return kind + " IN (" + strings.Join(list, ", ") + ")"
	}
	return "CASE WHEN " + in(spans) + " THEN NULL WHEN " + in(device) + " THEN 2 WHEN " + in(host) + " THEN 3 ELSE 1 END"
}

// counter returns the SQL of a counter of an operator.
func counter(name string) string { return "counters[" + duck.Literal(name) + "]" }

// sizedSQL returns the total size of the calls of an operator in a unit, if its profile has that unit; otherwise NULL.
func sizedSQL(unit string) string {
	tensors := counter("output_size") + " + coalesce(" + counter("activation_size") + ", 0) + coalesce(" + counter("parameter_size") + ", 0)"
	// A size of 0 means unknown. Each counter is looked up once, because the lookups take most of the time.
	whole := func(of string) string { return "try_cast(round(nullif(greatest(" + of + ", 0), 0)) AS BIGINT)" }
	return "CASE " + unit + " WHEN '" + unitTensors + "' THEN " + whole("(("+tensors+") * calls)") +
		" WHEN '" + unitMoved + "' THEN CASE WHEN " + counter("output_size") + " IS NULL THEN " + whole(counter("bytes")) + " END" +
		" WHEN '" + unitFlops + "' THEN CASE WHEN " + counter("output_size") + " IS NULL AND " + counter("bytes") + " IS NULL THEN " + whole(counter("flops")) + " END END"
}

// sizeSQL returns the mean size of a call. It is only known if it is known for all operators with the same name.
func sizeSQL(all, known, sized, calls, alike string) string {
	return "CASE WHEN " + known + " = " + all + " AND " + alike + " THEN " + sized + "::DOUBLE / " + calls + "::DOUBLE END"
}

// alikeSQL returns the SQL of the similarity of the runs of like_part to like_to: run_id, alike, shared, sized. Without sizes, counters are
// not read. Operators that like_to lacks only count for the total time of a run. Runs and operators are identified by numbers, because
// grouping by numbers is much faster.
func alikeSQL(ops string, sizes bool) string {
	sized, counters := "NULL::BIGINT", ""
	if sizes {
		sized, counters = sizedSQL("a.unit"), ", counters"
	}
	sums := "SELECT run, level, place, sum(duration_ns) AS took, count(*) AS n, count(sized) AS known, sum(sized) AS sized, sum(calls) AS calls FROM (" +
		"SELECT run, level, duration_ns, calls, place, " + sized + " AS sized FROM " +
		opsSQL("run", ops, " JOIN (SELECT run_id, run FROM like_part WHERE well) USING (run_id)", counters) + " LEFT JOIN like_to AS a USING (operator)) GROUP BY run, level, place"
	mix := "SELECT run, a.share AS to_share, " + shareSQL + " AS share, a.size AS to_size, " + sizeSQL("n", "known", "sized", "calls", "a.size IS NOT NULL") + " AS size FROM o" + lowestSQL +
		" LEFT JOIN like_to AS a USING (place)"
	sum := func(of, when string) string {
		return "coalesce(sum(CASE WHEN " + when + " THEN round(" + of + " * " + unitScale + ") ELSE 0 END::BIGINT), 0)::DOUBLE / " + unitScale
	}
	alike := "CASE WHEN size IS NOT NULL THEN sqrt(least(size, to_size) / greatest(size, to_size)) ELSE 1 END"
	return "WITH o AS MATERIALIZED (" + sums + "), m AS (" + mix + ") SELECT run_id, alike, shared, sized FROM (SELECT run, " + sum("sqrt(share * to_share) * "+alike, "to_share IS NOT NULL") + " AS alike, " +
		sum("least(share, to_share)", "to_share IS NOT NULL") + " AS shared, " + sum("least(share, to_share)", "to_share IS NOT NULL AND size IS NOT NULL") +
		" AS sized FROM m GROUP BY run) JOIN like_part USING (run)"
}

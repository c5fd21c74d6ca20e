package likeness

import (
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
)

// The types of operators that say what kind of thing an operator is, and not which. Readers of profiles write them as the tools do.
var (
	// spans hold or call others, whose time is theirs.
	spans = []string{
		"nvtx", "cuda_api", "cuda_runtime", "cuda_driver", "runtime", "driver", "osrt", "user_annotation", "gpu_user_annotation",
		"python_function", "overhead", "session", "api", "xpu_runtime", "xpu_driver",
	}
	// device is what a device does.
	device = []string{"kernel", "graph", "memcpy", "memset", "gpu_memcpy", "gpu_memset", "layer"}
	// host are operators that the host runs, those included that they call.
	host = []string{"cpu_op", "operator"}
)

// unitScale makes a sum of shares, each below 1, one of integers: so it is the same in whatever order it is added up.
const unitScale = "1e15"

// The units of sizes, in the order in which a profile has them: of tensors, where it has the bytes of these; else of what was moved; else of
// what was computed. The counters of tensors are those of one call, the others those of all.
const (
	unitTensors = "B of tensors"
	unitMoved   = "B"
	unitFlops   = "flop"
)

// opsSQL are the operators of ops with a duration: run, duration_ns, level, operator, calls, and what more says. run is the SQL by
// which a run goes, and joined what stands behind ops.
func opsSQL(run, ops, joined, more string) string {
	named := "coalesce(nullif(name, ''), nullif(type, ''), 'unknown')"
	return "(SELECT run, duration_ns, calls, level, CASE WHEN level = 1 THEN coalesce(nullif(type, ''), " + named + ") ELSE " + named + " END AS operator" + more +
		" FROM (SELECT " + run + " AS run, name, type, duration_ns" + more + ", " + levelSQL("lower(coalesce(type, ''))") + " AS level, greatest(coalesce(count, 1), 1) AS calls FROM " +
		ops + joined + " WHERE duration_ns > 0) WHERE level IS NOT NULL)"
}

// mixSQL are the operators of the runs of the parameter, a list of ids: run_id, operator, share, size, unit.
func mixSQL(ops string) string {
	has := func(name string) string { return counter(name) + " IS NOT NULL" }
	unit := "CASE WHEN " + has("output_size") + " THEN '" + unitTensors + "' WHEN " + has("bytes") + " THEN '" + unitMoved + "' WHEN " + has("flops") + " THEN '" + unitFlops + "' END"
	rows := "SELECT *, " + sizedSQL("unit") + " AS sized FROM (SELECT *, " + unit + " AS unit FROM " + opsSQL("run_id", ops, scan.OfRuns, ", counters") + ")"
	sums := "SELECT run, level, operator, sum(duration_ns) AS took, " + sizeSQL("count(*)", "count(sized)", "sum(sized)", "sum(calls)", "min(unit) = max(unit)") + " AS size, min(unit) AS unit " +
		"FROM (" + rows + ") GROUP BY run, level, operator"
	return "WITH o AS MATERIALIZED (" + sums + ") SELECT run, operator, " + shareSQL + ", size, unit FROM o" + lowestSQL + " ORDER BY run"
}

// lowestSQL joins the sums o of a run's operators with those of the lowest level that it has, and shareSQL is the share of one.
const (
	lowestSQL = " JOIN (SELECT run, level, sum(took) AS total FROM o GROUP BY run, level) AS t USING (run, level)" +
		" JOIN (SELECT run, min(level) AS level FROM o GROUP BY run) AS b USING (run, level)"
	shareSQL = "o.took::DOUBLE / t.total::DOUBLE"
)

// levelSQL is the level of an operator by its type; NULL for a span. A run has the mix of its lowest level.
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

// counter is the SQL of a counter of an operator.
func counter(name string) string { return "counters[" + duck.Literal(name) + "]" }

// sizedSQL is the size of all calls of an operator in a unit, where that is the unit of its profile; NULL, where it is not known.
func sizedSQL(unit string) string {
	tensors := counter("output_size") + " + coalesce(" + counter("activation_size") + ", 0) + coalesce(" + counter("parameter_size") + ", 0)"
	// 0 is no size. Each counter is looked up once: that is most of what sizes cost.
	whole := func(of string) string { return "try_cast(round(nullif(greatest(" + of + ", 0), 0)) AS BIGINT)" }
	return "CASE " + unit + " WHEN '" + unitTensors + "' THEN " + whole("(("+tensors+") * calls)") +
		" WHEN '" + unitMoved + "' THEN CASE WHEN " + counter("output_size") + " IS NULL THEN " + whole(counter("bytes")) + " END" +
		" WHEN '" + unitFlops + "' THEN CASE WHEN " + counter("output_size") + " IS NULL AND " + counter("bytes") + " IS NULL THEN " + whole(counter("flops")) + " END END"
}

// sizeSQL is the mean size of a call: known where it is of all operators of one kind.
func sizeSQL(all, known, sized, calls, alike string) string {
	return "CASE WHEN " + known + " = " + all + " AND " + alike + " THEN " + sized + "::DOUBLE / " + calls + "::DOUBLE END"
}

// alikeSQL are the runs of like_part and how alike like_to they are: run_id, alike, shared, sized. Without sizes counters are not read.
// What is no operator of like_to counts for the time of a run alone. Runs and operators go by numbers, which are added up in a
// fraction of the time.
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

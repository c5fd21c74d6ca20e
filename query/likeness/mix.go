package likeness

import (
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
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

// mixSQL are the statements that make like_mix of ops: run_id, operator, share, size, unit.
func mixSQL(ops string) []string {
	kind := "lower(coalesce(type, ''))"
	named := "coalesce(nullif(name, ''), nullif(type, ''), 'unknown')"
	return []string{
		"CREATE OR REPLACE TEMP TABLE like_ops AS SELECT run_id, level, operator, sum(duration_ns) AS took, " +
			"CASE WHEN count(sized) = count(*) AND min(unit) = max(unit) AND sum(calls) > 0 THEN sum(sized)::DOUBLE / sum(calls)::DOUBLE END AS size, min(unit) AS unit FROM (" +
			"SELECT run_id, duration_ns, calls, level, CASE WHEN level = 1 THEN coalesce(nullif(type, ''), " + named + ") ELSE " + named + " END AS operator, " +
			"CASE WHEN size > 0 THEN try_cast(round(size * calls) AS BIGINT) END AS sized, unit FROM (" +
			"SELECT run_id, name, type, duration_ns, " + levelSQL(kind) + " AS level, greatest(coalesce(count, 1), 1) AS calls, " + sizeSQL() +
			" FROM " + ops + " SEMI JOIN (SELECT run_id FROM like_runs WHERE well) USING (run_id) WHERE duration_ns > 0) WHERE level IS NOT NULL) GROUP BY run_id, level, operator",
		"CREATE OR REPLACE TEMP TABLE like_mix AS SELECT o.run_id, o.operator, o.took::DOUBLE / t.total::DOUBLE AS share, o.size, o.unit FROM like_ops AS o " +
			"JOIN (SELECT run_id, level, sum(took) AS total FROM like_ops GROUP BY run_id, level) AS t USING (run_id, level) " +
			"JOIN (SELECT run_id, min(level) AS level FROM like_ops GROUP BY run_id) AS b USING (run_id, level)",
	}
}

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

// sizeSQL are size, of one call, and unit: of tensors, where a profile has the bytes of them; else of what was moved; else of what was
// computed. The counters of tensors are those of one call, the others those of all.
func sizeSQL() string {
	counter := func(name string) string { return "counters[" + duck.Literal(name) + "]" }
	calls := "greatest(coalesce(count, 1), 1)"
	tensors := "coalesce(" + counter("activation_size") + ", 0) + coalesce(" + counter("parameter_size") + ", 0) + coalesce(" + counter("output_size") + ", 0)"
	known := counter("output_size") + " IS NOT NULL"
	return "CASE WHEN " + known + " THEN " + tensors + " WHEN " + counter("bytes") + " IS NOT NULL THEN " + counter("bytes") + " / " + calls +
		" WHEN " + counter("flops") + " IS NOT NULL THEN " + counter("flops") + " / " + calls + " END AS size, " +
		"CASE WHEN " + known + " THEN 'B of tensors' WHEN " + counter("bytes") + " IS NOT NULL THEN 'B' WHEN " + counter("flops") + " IS NOT NULL THEN 'flop' END AS unit"
}

// distanceSQL are the runs by their distance from that of the parameter: run_id, distance, shared, sized. A distance below 1e-6 is
// how numbers are rounded.
func distanceSQL(limit int) string {
	sum := func(of, when string) string {
		return "coalesce(sum(CASE WHEN " + when + " THEN round(" + of + " * " + unitScale + ") ELSE 0 END::BIGINT), 0)::DOUBLE / " + unitScale
	}
	alike := "CASE WHEN m.unit = a.unit AND m.size IS NOT NULL AND a.size IS NOT NULL THEN sqrt(least(m.size, a.size) / greatest(m.size, a.size)) ELSE 1 END"
	both := "a.share IS NOT NULL"
	text := "SELECT run_id, CASE WHEN alike > 1 - 1e-12 THEN 0.0::DOUBLE ELSE sqrt(1 - alike) END AS distance, least(shared, 1) AS shared, least(sized, 1) AS sized FROM (" +
		"SELECT m.run_id, " + sum("sqrt(m.share * a.share) * "+alike, both) + " AS alike, " + sum("least(m.share, a.share)", both) + " AS shared, " +
		sum("least(m.share, a.share)", both+" AND m.unit = a.unit AND m.size IS NOT NULL AND a.size IS NOT NULL") + " AS sized " +
		"FROM like_mix AS m LEFT JOIN (SELECT * FROM like_mix WHERE run_id = $1::VARCHAR) AS a ON a.operator = m.operator " +
		"WHERE m.run_id != $1::VARCHAR AND m.run_id IN (SELECT run_id FROM like_runs WHERE matches) GROUP BY m.run_id) ORDER BY distance, run_id DESC"
	if limit > 0 {
		text += fmt.Sprintf(" LIMIT %d", limit)
	}
	return text
}

package export

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// flatColumn is a column of a flat table, with the SQL of its values.
type flatColumn struct {
	*schema.Column
	sql string
}

// mapEntry is an entry of the maps params and tags, which is a column of flat tables.
type mapEntry struct {
	of, key string
	kind    schema.Kind
}

// The columns of runs that come first in every flat table, before the parameters.
var (
	leading = []string{
		"run_id", "session_id", "started_at", "status", "machine", "suite", "benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len",
	}
	// notFlat are columns of runs that are about the store alone.
	notFlat = []string{"digest", "summary_version", "tick"}
)

// findEntries finds the parameters and tags of the chosen runs, and the types of their columns: integers if all values are, or else
// numbers, or else text. Only the canonical text of a number is one, so that 1.10 beside 1.1 stays text. Integers beyond 15 digits are no
// reals, because they would be rounded.
func (x *exporter) findEntries(ctx context.Context) error {
	r := &scan.Reader{Conn: x.Conn, Src: x.src}
	if err := r.ApplyEvents(ctx); err != nil {
		return err
	}
	const number = `regexp_full_match(v, '-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?(e[-+][0-9]+)?') AND v <> '-0'`
	rows := func(of, integer, real string) string {
		return fmt.Sprintf("SELECT '%[1]s', k, %[2]s, %[3]s FROM (SELECT unnest(map_keys(%[1]s)) AS k, unnest(map_values(%[1]s)) AS v FROM (%[4]s)) GROUP BY k",
			of, integer, real, x.storedSQL("runs"))
	}
	text := rows("params",
		"bool_and(regexp_full_match(v, '-?(0|[1-9][0-9]{0,17})') AND v <> '-0')",
		"bool_and("+number+" AND isfinite(coalesce(TRY_CAST(v AS DOUBLE), 'inf'::DOUBLE)) AND (length(v) < 16 OR regexp_matches(v, '[.e]')))") +
		" UNION ALL " + rows("tags", "false", "false") + " ORDER BY 1, 2"
	return x.Conn.Query(ctx, duck.Statement{SQL: text}, func(row []driver.Value) error {
		of, _ := row[0].(string)
		key, _ := row[1].(string)
		entry := mapEntry{of, key, schema.KindString}
		if real, _ := row[3].(bool); real {
			entry.kind = schema.KindReal
		}
		if integer, _ := row[2].(bool); integer {
			entry.kind = schema.KindInt
		}
		x.entries = append(x.entries, entry)
		return nil
	})
}

// flatColumns returns the columns of a flat table in their order, and the names of the columns that are entries of maps. A parameter has
// its own name, unless another column has it: then it is param_NAME. Names that differ in case alone are numbered, as many programs ignore
// case.
func (x *exporter) flatColumns(table string) (columns []flatColumn, entries map[string]mapEntry) {
	var first, own []flatColumn
	taken := map[string]bool{}
	for _, c := range schema.Runs.Columns {
		f := flatColumn{c, "r." + duck.Identifier(c.Name)}
		switch {
		case c.Name == "warnings":
			f = flatColumn{&schema.Column{Name: c.Name}, "array_to_string(r.warnings, ', ')"}
		case !isScalar(c):
			continue
		}
		taken[c.Name] = true
		if slices.Contains(leading, c.Name) {
			first = append(first, f)
		} else if table == "runs" {
			own = append(own, f)
		}
	}
	slices.SortFunc(first, func(a, b flatColumn) int { return slices.Index(leading, a.Name) - slices.Index(leading, b.Name) })
	slices.SortStableFunc(own, func(a, b flatColumn) int { return cmp.Compare(rankOf(a), rankOf(b)) })
	for _, c := range viewColumns(table) {
		if table != "runs" && c.Name != "run_id" && (isScalar(c) || c.Name == "values") {
			own = append(own, flatColumn{c, "t." + duck.Identifier(c.Name)})
			taken[c.Name] = true
		}
	}
	if x.req.SI {
		for _, f := range slices.Concat(first, own) {
			taken[inSI(f).Name] = true
		}
	}
	entries = map[string]mapEntry{}
	var params, tags []flatColumn
	for _, e := range x.entries {
		name := e.key
		if e.of == "tags" {
			name = "tag_" + e.key
		} else if taken[strings.ToLower(name)] {
			name = "param_" + e.key
		}
		for base, n := name, 2; taken[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s_%d", base, n)
		}
		taken[strings.ToLower(name)] = true
		entries[name] = e
		c := &schema.Column{Name: name, Kind: e.kind}
		f := flatColumn{c, fmt.Sprintf("CAST(r.%s[%s] AS %s)", e.of, duck.Literal(e.key), c.SQLType())}
		if e.of == "tags" {
			tags = append(tags, f)
		} else {
			params = append(params, f)
		}
	}
	columns = slices.Concat(first, params, own, tags)
	if x.req.SI {
		for i, f := range columns {
			if _, is := entries[f.Name]; !is {
				columns[i] = inSI(f)
			}
		}
	}
	return columns, entries
}

// rankOf puts the primary metric and its summary before the other columns of runs.
func rankOf(f flatColumn) int {
	if f.Derived {
		return 0
	}
	return 1
}

// isScalar reports whether a column is in flat tables as it is.
func isScalar(c *schema.Column) bool {
	return c.Kind != schema.KindList && c.Kind != schema.KindMap && !slices.Contains(notFlat, c.Name)
}

// siUnits are the stored units that are not SI units, and their powers of ten.
var siUnits = []struct {
	stored, si string
	exponent   int
}{{"ns", "s", -9}, {"mJ", "J", -3}, {"mW", "W", -3}, {"MHz", "Hz", 6}}

// inSI converts a column to SI units: seconds, joules, watts and hertz. A column whose name ends with its unit gets another name.
func inSI(f flatColumn) flatColumn {
	c := *f.Column
	if c.Kind == schema.KindInt {
		c.Kind = schema.KindReal
	}
	value := f.sql
	switch {
	case f.Name == "unit":
		f.sql = perUnit(value, func(si string, _ int) string { return "'" + si + "'" })
		return f
	case f.Name == "log_median":
		f.sql = perUnit(value, func(_ string, exponent int) string { return fmt.Sprintf("%s + %v", value, float64(exponent)*math.Ln10) })
	case f.Name == "values":
		f.sql = perUnit(value, func(_ string, exponent int) string {
			return "list_transform(" + value + ", lambda v: " + scaled("v", exponent) + ")"
		})
	case f.Unit == schema.UnitOfRow:
		f.sql = perUnit(value, func(_ string, exponent int) string { return scaled(value, exponent) })
	case f.Unit == "ns":
		c.Name, c.Unit = strings.TrimSuffix(f.Name, "_ns")+"_s", "s"
		f.sql = scaled(value, -9)
	default:
		return f
	}
	f.Column = &c
	return f
}

// scaled returns the SQL of a value times a power of ten. Division by a power that is exact rounds once.
func scaled(value string, exponent int) string {
	if exponent < 0 {
		return fmt.Sprintf("%s / 1e%d", value, -exponent)
	}
	return fmt.Sprintf("%s * 1e%d", value, exponent)
}

// perUnit returns the SQL of a value that depends on the unit of its row.
func perUnit(value string, in func(si string, exponent int) string) string {
	var b strings.Builder
	alias, _, _ := strings.Cut(value, ".")
	b.WriteString("CASE " + alias + ".unit")
	for _, u := range siUnits {
		b.WriteString(" WHEN '" + u.stored + "' THEN " + in(u.si, u.exponent))
	}
	return b.String() + " ELSE " + value + " END"
}

// flatSQL returns the SQL of a flat table.
func (x *exporter) flatSQL(table string) string {
	columns, _ := x.flatColumns(table)
	list := make([]string, len(columns))
	for i, f := range columns {
		list[i] = f.sql + " AS " + duck.Identifier(f.Name)
	}
	from := " FROM (" + x.storedSQL("runs") + ") AS r"
	switch table {
	case "samples":
		from += " JOIN (" + x.src.SamplesSQL(x.where) + ") AS t USING (run_id)"
	case "samples_long":
		from += " JOIN (" + scan.SamplesLongSQL("("+x.src.SamplesSQL(x.where)+")") + ") AS t USING (run_id)"
	case "ops":
		from += " JOIN (" + x.src.OpsSQL(x.where) + ") AS t USING (run_id)"
	}
	return "SELECT " + strings.Join(list, ", ") + from
}

// renamed returns the columns of flat tables whose parameters have other names.
func (x *exporter) renamed() map[string]string {
	names := map[string]string{}
	for _, table := range x.tables() {
		_, entries := x.flatColumns(table)
		for name, e := range entries {
			if e.of == "params" && name != e.key {
				names[e.key] = name
			}
		}
	}
	return names
}

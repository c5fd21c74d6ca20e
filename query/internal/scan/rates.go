package scan

import (
	"cmp"
	"context"
	"database/sql/driver"
	"iter"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// Rate is the stored unit of rates, whatever is counted. UnitFact and the name of a metric are the fact with the unit that the file of an
// imported run has it in, which may say what is counted.
const (
	Rate     = "1/s"
	UnitFact = "source.unit."
)

// RateUnit returns the unit in which values of a stored unit are shown, given their unit in the file.
func RateUnit(stored, inFile string) string {
	if stored != Rate {
		return stored
	}
	return cmp.Or(schema.RateOf(inFile), stored)
}

// RateUnits are the units of rates that files name, by benchmark and metric.
type RateUnits map[[2]string]string

// Of returns the unit in which values of a metric of a benchmark are shown.
func (u RateUnits) Of(benchmark, metric, stored string) string {
	if stored != Rate {
		return stored
	}
	return cmp.Or(u[[2]string{benchmark, metric}], stored)
}

// RateUnits reads the units of rates, if any of the stored units is that of a rate. A benchmark whose files name different ones has none.
func (r *Reader) RateUnits(ctx context.Context, stored iter.Seq[string]) (RateUnits, error) {
	for unit := range stored {
		if unit == Rate {
			return r.rateUnits(ctx)
		}
	}
	return nil, nil
}

// rateUnits reads the facts of imported runs. Runs that bench measured have many facts, and few of them a rate.
func (r *Reader) rateUnits(ctx context.Context) (RateUnits, error) {
	columns, err := RunColumns([]string{"benchmark", "source", "unit", "env"})
	if err != nil {
		return nil, err
	}
	condition := "(source <> " + duck.Literal(schema.SourceNeuroLens) + " OR unit = " + duck.Literal(Rate) + ")"
	text := "SELECT benchmark, fact.key[$1::INTEGER:] AS metric, min(fact.value), max(fact.value) FROM (SELECT benchmark, unnest(map_entries(env)) AS fact FROM " +
		r.Src.Scan(columns, condition) + ") WHERE starts_with(fact.key, $2::VARCHAR) GROUP BY ALL"
	units := RateUnits{}
	err = r.Conn.Query(ctx, duck.Statement{SQL: text, Args: []any{len(UnitFact) + 1, UnitFact}}, func(row []driver.Value) error {
		if unit := schema.RateOf(duck.Text(row[2])); unit == schema.RateOf(duck.Text(row[3])) {
			units[[2]string{duck.Text(row[0]), duck.Text(row[1])}] = unit
		}
		return nil
	})
	return units, err
}

package duck

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// shapeOf returns the Arrow type for a type of DuckDB, and the type of DuckDB that values are cast to before. Integers have 64 bits, reals
// are DOUBLE, and times are microseconds in UTC, like the columns of a store. Types without a simple Arrow type become text, as in the
// other formats.
func shapeOf(info duckdb.TypeInfo) (cast string, t arrow.DataType) {
	switch details := info.Details().(type) {
	case *duckdb.ListDetails:
		cast, t = shapeOf(details.Child)
		return cast + "[]", arrow.ListOf(t)
	case *duckdb.ArrayDetails:
		cast, t = shapeOf(details.Child)
		return cast + "[]", arrow.ListOf(t)
	case *duckdb.MapDetails:
		key, k := shapeOf(details.Key)
		value, v := shapeOf(details.Value)
		return "MAP(" + key + ", " + value + ")", arrow.MapOf(k, v)
	case *duckdb.StructDetails:
		casts, fields := make([]string, len(details.Entries)), make([]arrow.Field, len(details.Entries))
		for i, entry := range details.Entries {
			cast, t := shapeOf(entry.Info())
			casts[i] = Identifier(entry.Name()) + " " + cast
			fields[i] = arrow.Field{Name: entry.Name(), Type: t, Nullable: true}
		}
		return "STRUCT(" + strings.Join(casts, ", ") + ")", arrow.StructOf(fields...)
	}
	switch info.InternalType() {
	case duckdb.TYPE_BOOLEAN:
		return "BOOLEAN", arrow.FixedWidthTypes.Boolean
	case duckdb.TYPE_TINYINT, duckdb.TYPE_SMALLINT, duckdb.TYPE_INTEGER, duckdb.TYPE_BIGINT, duckdb.TYPE_HUGEINT, duckdb.TYPE_BIGNUM,
		duckdb.TYPE_UTINYINT, duckdb.TYPE_USMALLINT, duckdb.TYPE_UINTEGER, duckdb.TYPE_UBIGINT, duckdb.TYPE_UHUGEINT:
		return "BIGINT", arrow.PrimitiveTypes.Int64
	case duckdb.TYPE_FLOAT, duckdb.TYPE_DOUBLE, duckdb.TYPE_DECIMAL:
		return "DOUBLE", arrow.PrimitiveTypes.Float64
	case duckdb.TYPE_DATE:
		return "DATE", arrow.FixedWidthTypes.Date32
	case duckdb.TYPE_TIMESTAMP, duckdb.TYPE_TIMESTAMP_S, duckdb.TYPE_TIMESTAMP_MS, duckdb.TYPE_TIMESTAMP_NS, duckdb.TYPE_TIMESTAMP_TZ:
		return "TIMESTAMPTZ", &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	case duckdb.TYPE_BLOB:
		return "BLOB", arrow.BinaryTypes.Binary
	default:
		return "VARCHAR", arrow.BinaryTypes.String
	}
}

// ArrowColumns prepares a statement and returns the cast and the Arrow field of each column of its result.
func ArrowColumns(ctx context.Context, c *Conn, text string) (casts []string, fields []arrow.Field, err error) {
	prepared, err := c.Prepare(ctx, text)
	if err != nil {
		return nil, nil, &Error{Message: OneLine(err.Error()), Kind: KindOf(err), Cause: err}
	}
	defer func() { _ = prepared.Close() }() // it was not run
	s, ok := prepared.(*duckdb.Stmt)
	if !ok {
		return nil, nil, fmt.Errorf("preparing a statement: unexpected type %T from the driver", prepared)
	}
	n, err := s.ColumnCount()
	if err != nil {
		return nil, nil, fmt.Errorf("preparing a statement: %w", err)
	}
	for i := range n {
		name, err := s.ColumnName(i)
		if err != nil {
			return nil, nil, fmt.Errorf("preparing a statement: %w", err)
		}
		info, err := s.ColumnTypeInfo(i)
		if err != nil { // a struct whose fields have no names
			return nil, nil, answer.InputError("query: column %s has a type that Arrow does not support: cast it, for example to VARCHAR", answer.Brief(name))
		}
		cast, t := shapeOf(info)
		casts, fields = append(casts, cast), append(fields, arrow.Field{Name: name, Type: t, Nullable: true})
	}
	return casts, fields, nil
}

// WithArrowUnits adds the stored unit to the metadata of fields, as `unit`, if the column of the views has one. renamed is as in
// answer.Table.SetUnits.
func WithArrowUnits(fields []arrow.Field, renamed map[string]bool) []arrow.Field {
	var t answer.Table
	for _, f := range fields {
		t.Columns = append(t.Columns, answer.Column{Name: f.Name})
	}
	t.SetUnits(renamed)
	for i, c := range t.Columns {
		if c.Unit != "" && c.Unit != schema.UnitOfRow {
			fields[i].Metadata = arrow.NewMetadata([]string{"unit"}, []string{c.Unit})
		}
	}
	return fields
}

package duck

import (
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/query/answer"
)

// readTable reads a result to its end. More than most values are an ErrInput.
func readTable(rows driver.Rows, most int) (answer.Table, error) {
	types, ok := rows.(driver.RowsColumnTypeDatabaseTypeName)
	if !ok {
		return answer.Table{}, fmt.Errorf("reading a result: the driver gives no column types")
	}
	t := answer.Table{Rows: [][]any{}}
	var convert []func(any) any
	for i, name := range rows.Columns() {
		kind, f := converter(types.ColumnTypeDatabaseTypeName(i))
		t.Columns = append(t.Columns, answer.Column{Name: name, Type: kind})
		convert = append(convert, f)
	}
	row := make([]driver.Value, len(t.Columns))
	for {
		err := rows.Next(row)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return answer.Table{}, err
		}
		if len(t.Rows)*len(row) >= most {
			return answer.Table{}, answer.InputError("the result has more than %d values: aggregate, or add a LIMIT", most)
		}
		values := make([]any, len(row))
		for i, v := range row {
			if v != nil {
				values[i] = convert[i](v)
			}
		}
		t.Rows = append(t.Rows, values)
	}
	for i := range t.Columns {
		textWhereMisfits(&t, i)
	}
	return t, nil
}

// misfit is a value, as text, that the type of its column cannot represent: an integer of more than 64 bits, a decimal with more digits
// than a double, an infinite time.
type misfit string

// textWhereMisfits converts a column to text if one of its values does not fit.
func textWhereMisfits(t *answer.Table, column int) {
	if !slices.ContainsFunc(t.Rows, func(row []any) bool { _, ok := row[column].(misfit); return ok }) {
		return
	}
	t.Columns[column].Type = answer.TypeText
	for _, row := range t.Rows {
		switch v := row[column].(type) {
		case nil:
		case misfit:
			row[column] = string(v)
		case float64:
			row[column] = strconv.FormatFloat(v, 'f', -1, 64)
		case time.Time:
			row[column] = v.UTC().Format(time.RFC3339Nano)
		default:
			row[column] = fmt.Sprint(v)
		}
	}
}

// converter returns, for a type of DuckDB, the Type of the column and the function that converts its values.
func converter(name string) (answer.Type, func(any) any) {
	base, _, _ := strings.Cut(name, "(")
	switch {
	case strings.HasSuffix(name, "]"):
		return answer.TypeList, Plain
	case base == "MAP" || base == "STRUCT":
		return answer.TypeMap, Plain
	}
	switch base {
	case "BOOLEAN":
		return answer.TypeBoolean, Plain
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "BIGNUM":
		return answer.TypeInteger, Plain
	case "FLOAT", "DOUBLE", "DECIMAL":
		return answer.TypeReal, Plain
	case "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE":
		return answer.TypeTime, Plain
	case "DATE":
		return answer.TypeText, clock("2006-01-02")
	case "TIME":
		return answer.TypeText, clock("15:04:05.999999")
	case "TIMETZ", "TIME WITH TIME ZONE":
		return answer.TypeText, clock("15:04:05.999999Z07:00")
	case "UUID":
		return answer.TypeText, uuidText
	case "JSON":
		return answer.TypeText, jsonText
	default:
		return answer.TypeText, text
	}
}

func clock(layout string) func(any) any {
	return func(v any) any {
		if t, ok := Plain(v).(time.Time); ok {
			return t.Format(layout)
		}
		return text(v)
	}
}

func uuidText(v any) any {
	if b, ok := v.([]byte); ok && len(b) == 16 {
		u := duckdb.UUID(b)
		return u.String()
	}
	return text(v)
}

func jsonText(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

func text(v any) any {
	switch v := Plain(v).(type) {
	case string:
		return v
	case misfit:
		return string(v)
	case nil:
		return nil
	default:
		return fmt.Sprint(v)
	}
}

// Plain converts a value of the driver to one of the Go types that are listed at answer.Type, or to a misfit.
func Plain(v any) any {
	switch v := v.(type) {
	case []any:
		return plainList(v)
	case map[string]any:
		return plainStruct(v)
	case duckdb.OrderedMap:
		return plainMap(v)
	case duckdb.Union:
		return Plain(v.Value)
	case []byte:
		return hex.EncodeToString(v)
	case duckdb.Interval:
		return intervalText(v)
	case duckdb.Decimal:
		return decimal(v.String())
	case time.Time:
		if text := infinite(v); text != "" {
			return misfit(text)
		}
		return v
	case duckdb.UUID:
		return v.String()
	default:
		return plainNumber(v)
	}
}

func plainNumber(v any) any {
	switch v := v.(type) {
	case int8:
		return int64(v)
	case int16:
		return int64(v)
	case int32:
		return int64(v)
	case uint8:
		return int64(v)
	case uint16:
		return int64(v)
	case uint32:
		return int64(v)
	case uint64:
		return plainNumber(new(big.Int).SetUint64(v))
	case float32:
		return float64(v)
	case *big.Int:
		if v.IsInt64() {
			return v.Int64()
		}
		return misfit(v.String())
	default:
		return v
	}
}

// decimal returns the number with these digits and a decimal point.
func decimal(digits string) any {
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil || strconv.FormatFloat(f, 'f', -1, 64) != digits {
		return misfit(digits)
	}
	return f
}

// lastDay is the day, counted from 1970, that represents an infinite date.
const lastDay = math.MaxInt32

// infinities returns the times by which the driver represents infinity, for each of DuckDB's time types. A negative sign selects
// -infinity.
func infinities(sign int64) []time.Time {
	last := sign * math.MaxInt64
	return []time.Time{
		time.Unix(last, 0), time.UnixMilli(last), time.UnixMicro(last), time.Unix(0, last), time.Unix(sign*lastDay*24*60*60, 0),
	}
}

// infinite returns infinity or -infinity if a time represents it; otherwise an empty text.
func infinite(t time.Time) string {
	if year := t.Year(); year > 1677 && year < 2262 { // the range of nanoseconds in 64 bits
		return ""
	}
	switch {
	case slices.ContainsFunc(infinities(1), t.Equal):
		return "infinity"
	case slices.ContainsFunc(infinities(-1), t.Equal):
		return "-infinity"
	}
	return ""
}

func plainList(list []any) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = nested(v)
	}
	return out
}

func plainStruct(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = nested(v)
	}
	return out
}

// plainMap is Plain for a map.
func plainMap(m duckdb.OrderedMap) map[string]any {
	out := make(map[string]any, m.Len())
	keys, values := m.Keys(), m.Values()
	for i, k := range keys {
		out[fmt.Sprint(nested(k))] = nested(values[i])
	}
	return out
}

// nested is Plain for a value inside another one. Misfits and times become text.
func nested(v any) any {
	switch p := Plain(v).(type) {
	case misfit:
		return string(p)
	case time.Time:
		if year := p.Year(); year < 0 || year > 9999 {
			return p.UTC().Format(time.RFC3339Nano)
		}
		return p
	default:
		return p
	}
}

// intervalText prints an interval with the parts that DuckDB stores: months, days, time.
func intervalText(i duckdb.Interval) string {
	var parts []string
	if i.Months != 0 {
		parts = append(parts, fmt.Sprintf("%d months", i.Months))
	}
	if i.Days != 0 {
		parts = append(parts, fmt.Sprintf("%d days", i.Days))
	}
	if i.Micros != 0 || len(parts) == 0 {
		parts = append(parts, (time.Duration(i.Micros) * time.Microsecond).String())
	}
	return strings.Join(parts, " ")
}

// Text returns a value as a text; empty for NULL.
func Text(v driver.Value) string { s, _ := v.(string); return s }

// Integer returns a value as an integer; 0 for NULL.
func Integer(v driver.Value) int64 { n, _ := v.(int64); return n }

// List returns a value as a list; nil for NULL.
func List(v driver.Value) []any { list, _ := v.([]any); return list }

package benchmarks

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-sqlite3"
	"golang.org/x/perf/benchfmt"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// importRole is the variable that makes the test binary the peer of an import: it puts the file of its first argument into the
// SQLite file of its second.
const importRole = "NEUROLENS_SCALE_IMPORT"

// importSQLite reads Go benchmarks with benchfmt, and puts runs and samples with all columns of the store into a new SQLite file,
// as fast as SQLite can: in one transaction, with prepared statements, without an index. Lists are blobs, maps are JSON. Its
// summaries are those of the store; its ids are hashes of its own.
func importSQLite(file, to string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	db, err := sql.Open("sqlite3", "file:"+to+"?_synchronous=FULL&_locking_mode=EXCLUSIVE&_cache_size=-65536")
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(context.Background())
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(opened any) error { // database/sql would take a share of its own
		c, ok := opened.(*sqlite3.SQLiteConn)
		if !ok {
			return fmt.Errorf("%T is no connection to SQLite", opened)
		}
		return importInto(c, in)
	})
}

// importInto does it in one transaction.
func importInto(c *sqlite3.SQLiteConn, in *os.File) error {
	tx, err := c.Begin()
	if err != nil {
		return err
	}
	runs, err := newInsert(c, schema.Runs)
	if err != nil {
		return err
	}
	samples, err := newInsert(c, schema.Samples)
	if err != nil {
		return err
	}
	g := grouped{runs: runs, samples: samples, facts: map[string]string{}}
	reader := benchfmt.NewReader(in, in.Name())
	for reader.Scan() {
		result, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		if err := g.add(result); err != nil {
			return err
		}
	}
	return errors.Join(reader.Err(), g.flush(), runs.stmt.Close(), samples.stmt.Close(), tx.Commit())
}

// insert is a prepared statement with the values of a row.
type insert struct {
	stmt   *sqlite3.SQLiteStmt
	values []driver.Value
	err    error // the first value that has no JSON
}

func newInsert(c *sqlite3.SQLiteConn, t *schema.Table) (*insert, error) {
	names := make([]string, len(t.Columns))
	for i, column := range t.Columns {
		names[i] = `"` + column.Name + `"`
	}
	if _, err := c.Exec("CREATE TABLE "+t.Name+" ("+strings.Join(names, ", ")+")", nil); err != nil {
		return nil, err
	}
	stmt, err := c.Prepare("INSERT INTO " + t.Name + " VALUES (?" + strings.Repeat(", ?", len(names)-1) + ")")
	if err != nil {
		return nil, err
	}
	prepared, ok := stmt.(*sqlite3.SQLiteStmt)
	if !ok {
		return nil, fmt.Errorf("a statement of SQLite is a %T", stmt)
	}
	return &insert{stmt: prepared}, nil
}

// exec inserts the row, and begins the next.
func (i *insert) exec() error {
	if i.err != nil {
		return i.err
	}
	_, err := i.stmt.Exec(i.values)
	i.values = i.values[:0]
	return err
}

// add adds the values of a row: numbers as blobs, and other lists and maps as JSON.
func (i *insert) add(row ...any) {
	for _, value := range row {
		switch v := value.(type) {
		case nil, string, int64, float64, bool:
			i.values = append(i.values, v)
		case time.Time:
			i.values = append(i.values, v.UnixMicro())
		case []int64:
			blob := make([]byte, 0, 8*len(v))
			for _, n := range v {
				blob = binary.LittleEndian.AppendUint64(blob, uint64(n))
			}
			i.values = append(i.values, blob)
		case []float64:
			blob := make([]byte, 0, 8*len(v))
			for _, number := range v {
				blob = binary.LittleEndian.AppendUint64(blob, math.Float64bits(number))
			}
			i.values = append(i.values, blob)
		default:
			text, err := json.Marshal(v)
			i.err = cmp.Or(i.err, err)
			i.values = append(i.values, string(text))
		}
	}
}

// grouped makes runs of the results that follow one another and have the same name.
type grouped struct {
	runs, samples *insert
	name          string
	run           schema.Run
	iterations    []int64
	facts         map[string]string
	count         int64
}

func (g *grouped) add(result *benchfmt.Result) error {
	if string(result.Name) != g.name {
		if err := g.flush(); err != nil {
			return err
		}
		g.begin(result)
	}
	g.iterations = append(g.iterations, int64(result.Iters))
	for i, v := range result.Values {
		if i == len(g.run.Metrics) {
			g.run.Metrics = append(g.run.Metrics, schema.Metric{Name: v.Unit, Unit: v.Unit, Level: schema.LevelIteration, Better: schema.BetterLower})
		}
		m := &g.run.Metrics[i]
		m.Reals = append(m.Reals, v.Value)
	}
	return nil
}

// begin takes from a result what all of its run share.
func (g *grouped) begin(result *benchfmt.Result) {
	g.name = result.Name.String()
	g.iterations = g.iterations[:0]
	g.facts["goarch"], g.facts["source.path"] = result.GetConfig("goarch"), "input"
	g.run = schema.Run{
		Source: "go-bench", Purpose: schema.PurposeMeasure, Status: schema.StatusOK, PositionIndex: new(g.count),
		Env:    schema.Env{OS: result.GetConfig("goos"), CPUModel: result.GetConfig("cpu"), Facts: g.facts},
		Params: map[string]string{},
	}
	g.count++
	base, parts := result.Name.Parts()
	for _, part := range parts {
		key, value, _ := strings.Cut(string(part[1:]), "=")
		if part[0] == '-' {
			key, value = "gomaxprocs", key
		}
		g.run.Params[key] = value
	}
	g.run.Benchmark = result.GetConfig("pkg") + "/" + string(base)
}

// flush inserts the run.
func (g *grouped) flush() error {
	r := &g.run
	if len(r.Metrics) == 0 {
		return nil
	}
	for i := range r.Metrics {
		r.Metrics[i].IterationsPerSample = g.iterations
	}
	r.Primary = r.Metrics[0].Name
	r.Warnings = stat.Warnings(r.Metrics[0].Reals, 0, 0)
	stat.Complete(r)
	hash := sha256.New()
	_, _ = io.WriteString(hash, r.Benchmark+g.name)
	r.PointID = hex.EncodeToString(hash.Sum(nil)[:16])
	for i := range r.Metrics {
		_ = binary.Write(hash, binary.LittleEndian, r.Metrics[i].Reals)
	}
	sum := hash.Sum(nil)
	r.RunID = schema.ULIDFrom(time.Time{}, [10]byte(sum)).String()
	r.SessionID = r.RunID
	g.runs.add(schema.RunRow(r, hex.EncodeToString(sum[:16]))...)
	if err := g.runs.exec(); err != nil {
		return err
	}
	for i := range r.Metrics {
		g.samples.add(r.RunID)
		g.samples.add(schema.MetricRow(&r.Metrics[i])...)
		if err := g.samples.exec(); err != nil {
			return err
		}
	}
	return nil
}

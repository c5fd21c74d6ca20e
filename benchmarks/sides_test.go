package benchmarks

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/duckdb/duckdb-go/v2"
	_ "github.com/mattn/go-sqlite3" // the driver
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// document is a run as a JSON document.
type document struct {
	RunID     string            `json:"run_id"`
	CreatedAt string            `json:"created_at"`
	Backend   string            `json:"backend"`
	Model     string            `json:"model"`
	BatchSize *int64            `json:"batch_size"`
	Status    schema.Status     `json:"status"`
	Params    map[string]string `json:"params"`
	Tags      map[string]string `json:"tags"`
	Env       schema.Env        `json:"env"`
	P50       *float64          `json:"p50_ns"`
	P99       *float64          `json:"p99_ns"`
	Samples   []float64         `json:"samples_ms,omitempty"`
}

func documentOf(r *schema.Run) document {
	m := &r.Metrics[0]
	return document{
		r.RunID, r.StartedAt.Format("2006-01-02T15:04:05.000000Z"), r.Backend, r.Model, r.BatchSize, r.Status, r.Params, r.Tags, r.Env,
		m.Summary.P50, m.Summary.P99, nil,
	}
}

// documents writes one JSON document a run.
type documents struct{ dir string }

func newDocuments(dir string) (sideWriter, error) { return documents{dir}, nil }

func (d documents) Append(r schema.Run) error {
	doc := documentOf(&r)
	for _, v := range r.Metrics[0].Ticks {
		doc.Samples = append(doc.Samples, float64(v)/1e6)
	}
	content, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	return writeDurably(d.dir, r.RunID+".json", content)
}

func (d documents) Close() error { return nil }

// writeDurably makes a file that is whole and on disk.
func writeDurably(dir, name string, content []byte) error {
	temp, final := filepath.Join(dir, name+".part"), filepath.Join(dir, name)
	f, err := os.Create(temp)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err := errors.Join(err, f.Sync(), f.Close(), os.Rename(temp, final)); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// askDocuments lists by the names, which are in the order of time, and reads every document for anything else.
func askDocuments(dir, question string) ([]string, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	slices.Reverse(names)
	if question == askNewest {
		names = names[:newest]
	}
	var a answer
	err = a.all(len(names), question, func(i int) (document, error) {
		var d document
		content, err := os.ReadFile(names[i])
		if err == nil {
			err = json.Unmarshal(content, &d)
		}
		return d, err
	})
	return a.lines(question), err
}

// answer is what was found in documents.
type answer struct {
	mu   sync.Mutex
	ids  []string
	sums [2]float64
}

// all reads documents on all cores.
func (a *answer) all(n int, question string, read func(i int) (document, error)) error {
	cores := runtime.GOMAXPROCS(0)
	errs := make([]error, cores)
	var wg sync.WaitGroup
	for core := range cores {
		wg.Go(func() {
			for i := core; i < n && errs[core] == nil; i += cores {
				d, err := read(i)
				if err == nil {
					a.add(&d, question)
				}
				errs[core] = err
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (a *answer) add(d *document, question string) {
	var p50, p99 float64
	if question == askQuantiles {
		ticks := make([]int64, len(d.Samples))
		for i, v := range d.Samples {
			ticks[i] = int64(v*1e6 + 0.5)
		}
		p50, p99 = quantile(ticks, 0.5), quantile(ticks, 0.99)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sums[0] += p50
	a.sums[1] += p99
	if question == askNewest || question == askColumn && d.P50 != nil && *d.P50 > slow || question == askParameter && d.Params["dim"] == "64" {
		a.ids = append(a.ids, d.RunID)
	}
}

func (a *answer) lines(question string) []string {
	if question == askQuantiles {
		return []string{fmt.Sprint(a.sums[0]), fmt.Sprint(a.sums[1])}
	}
	slices.Sort(a.ids)
	slices.Reverse(a.ids)
	return a.ids[:min(newest, len(a.ids))]
}

// sqlite writes one row a run, with the samples as JSON of ns.
type sqlite struct {
	db     *sql.DB
	insert *sql.Stmt
}

func openSQLite(dir string) (*sql.DB, error) {
	return sql.Open("sqlite3", "file:"+filepath.Join(dir, "runs.db")+"?_journal_mode=WAL&_synchronous=FULL")
}

func newSQLite(dir string) (sideWriter, error) {
	db, err := openSQLite(dir)
	if err != nil {
		return nil, err
	}
	if _, err := db.Exec(`CREATE TABLE runs (run_id TEXT PRIMARY KEY, created_at TEXT, backend TEXT, model TEXT, batch_size INTEGER,
		status TEXT, params TEXT, tags TEXT, env TEXT, p50 REAL, p99 REAL, samples TEXT)`); err != nil {
		return nil, err
	}
	insert, err := db.Prepare("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
	return &sqlite{db, insert}, err
}

func (s *sqlite) Append(r schema.Run) error {
	d := documentOf(&r)
	var texts [4]string
	for i, value := range []any{d.Params, d.Tags, d.Env, r.Metrics[0].Ticks} {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		texts[i] = string(text)
	}
	_, err := s.insert.Exec(d.RunID, d.CreatedAt, d.Backend, d.Model, d.BatchSize, string(d.Status), texts[0], texts[1], texts[2], d.P50, d.P99, texts[3])
	return err
}

func (s *sqlite) Close() error { return errors.Join(s.insert.Close(), s.db.Close()) }

func askSQLite(dir, question string) ([]string, error) {
	db, err := openSQLite(dir)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	where := map[string]string{askColumn: "WHERE p50 > 50e6", askParameter: "WHERE json_extract(params, '$.dim') = '64'"}[question]
	if question != askQuantiles {
		return texts(db, "SELECT run_id FROM runs "+where+" ORDER BY run_id DESC LIMIT 20")
	}
	all, err := texts(db, "SELECT samples FROM runs")
	if err != nil {
		return nil, err
	}
	var a answer
	err = a.all(len(all), question, func(i int) (document, error) {
		var d document
		var ticks []float64
		err := json.Unmarshal([]byte(all[i]), &ticks)
		for _, v := range ticks {
			d.Samples = append(d.Samples, v/1e6)
		}
		return d, err
	})
	return a.lines(question), err
}

// texts returns the values of the one column of an answer.
func texts(db *sql.DB, query string) ([]string, error) {
	rows, err := db.QueryContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}

// glob writes one Parquet file a run, the live files of NeuroLens, into one directory.
type glob struct {
	dir     string
	encoder *table.Encoder
}

func newGlob(dir string) (sideWriter, error) { return glob{dir, table.NewEncoder("scale")}, nil }

func (g glob) Append(r schema.Run) error {
	content, err := g.encoder.Encode(&r, schema.DigestOf(&r))
	if err != nil {
		return err
	}
	return writeDurably(g.dir, r.RunID+".parquet", content)
}

func (g glob) Close() error { return nil }

func askGlob(dir, question string) ([]string, error) {
	connector, err := duckdb.NewConnector(":memory:", nil)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	from := "FROM read_parquet('" + strings.ReplaceAll(dir, "'", "''") + "/*.parquet', union_by_name = true) "
	if question == askQuantiles {
		return texts(db, "SELECT unnest([sum(q[1]), sum(q[2])])::VARCHAR FROM (SELECT list_aggregate(s.ticks, 'quantile_cont', [0.5, 0.99]) q FROM (SELECT unnest(samples) s "+from+"))")
	}
	where := map[string]string{askColumn: "WHERE p50 > 50e6 ", askParameter: "WHERE params['dim'] = '64' "}[question]
	return texts(db, "SELECT run_id "+from+where+"ORDER BY run_id DESC LIMIT 20")
}

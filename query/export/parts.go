package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// partSize is how large a part is, approximately. The smaller the parts, the more often the row groups of packs are read. The larger, the
// more memory DuckDB needs to sort and write one.
type partSize struct {
	bytes int64 // on disk
	runs  int   // at most
}

// sizeOf returns the size of the parts of a table.
func (x *exporter) sizeOf(table string) partSize {
	if x.req.Format == Parquet || table == wholeTable {
		return partSize{bytes: 1 << 20, runs: scan.PageRows} // compressed on disk; whole runs are held as nested lists
	}
	return partSize{bytes: 16 << 20, runs: 4 * scan.PageRows}
}

// inParts writes a table to a path in parts, each with some runs in the order of their ids, because sorting all rows of a large store may
// need too much memory. It returns the number of rows.
func (x *exporter) inParts(ctx context.Context, table, path string) (rows int64, err error) {
	dir, err := os.MkdirTemp(x.temp, "neurolens-export-")
	if err != nil {
		return 0, fmt.Errorf("export: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// Row groups of packs are large, and a part needs little of each.
	if _, err := x.Conn.Exec(ctx, "SET prefetch_all_parquet_files = false"); err != nil {
		return 0, err
	}
	defer func() {
		_, set := x.Conn.Exec(ctx, "SET prefetch_all_parquet_files = true")
		err = errors.Join(err, set)
	}()
	out := &parts{exporter: x, table: table, path: path, dir: dir}
	ids := x.ids
	slices.SortFunc(ids, scan.CompareIDs)
	size := x.sizeOf(table)
	for most := 256; len(ids) > 0; {
		n := min(most, size.runs, len(ids))
		bytes, err := out.add(ctx, ids[:n])
		if duck.OutOfMemory(err) && n > 1 {
			size.runs = n / 2
			continue
		}
		if err != nil {
			return 0, err
		}
		ids = ids[n:]
		most = max(min(int(int64(n)*size.bytes/max(bytes, 1)), 4*n), 1)
	}
	return out.rows, out.join(ctx)
}

// parts are the parts of a table that is being written.
type parts struct {
	*exporter
	table, path string
	dir         string // directory of the parts
	written     []string
	rows        int64
	largest     int64 // number of rows of the largest part
}

// add writes the next part and returns its size.
func (p *parts) add(ctx context.Context, ids []schema.ULID) (int64, error) {
	if _, err := p.Conn.Exec(ctx, "CREATE OR REPLACE TEMP TABLE part AS SELECT unnest($1::VARCHAR[]) AS run_id", scan.IDTexts(ids)); err != nil {
		return 0, err
	}
	some := p.of(ids)
	some.among = " SEMI JOIN part USING (run_id)"
	path := p.dir + "/" + strconv.Itoa(len(p.written))
	options := copyOptions[p.req.Format]
	if p.req.Format == CSV && len(p.written) > 0 {
		options = "FORMAT csv, HEADER false"
	}
	rows, err := some.copyAtOnce(ctx, p.table, path, options)
	if err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, fmt.Errorf("export: %w", err)
	}
	p.written = append(p.written, path)
	p.rows, p.largest = p.rows+rows, max(p.largest, rows)
	if p.req.Format == Parquet {
		return info.Size(), nil
	}
	return info.Size(), p.append(path)
}

// append moves a part to the end of the file.
func (p *parts) append(part string) (err error) {
	from, err := os.Open(part)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	defer func() { err = errors.Join(err, from.Close(), os.Remove(part)) }()
	to, err := os.OpenFile(p.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if _, err := io.Copy(to, from); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// join combines Parquet parts into one file, with one row group per part.
func (p *parts) join(ctx context.Context) (err error) {
	if p.req.Format != Parquet {
		return nil
	}
	// One thread, because each thread buffers a row group of all columns.
	if _, err := p.Conn.Exec(ctx, "SET preserve_insertion_order = true; SET threads = 1"); err != nil {
		return err
	}
	defer func() {
		_, set := p.Conn.Exec(ctx, fmt.Sprintf("SET preserve_insertion_order = false; SET threads = %d", runtime.GOMAXPROCS(0)))
		err = errors.Join(err, set)
	}()
	group := max(p.largest/2048, 1) * 2048 // the size of DuckDB's vectors
	_, err = p.Conn.Exec(ctx, fmt.Sprintf("COPY (SELECT * FROM read_parquet(%s)) TO %s (%s, ROW_GROUP_SIZE %d)",
		duck.TextList(duck.Patterns(p.written)), duck.Literal(p.path), copyOptions[Parquet], group))
	return err
}

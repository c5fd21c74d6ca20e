package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// arrowTo writes a table to a path, as an Arrow IPC stream if it is for Stdout, otherwise as an Arrow file. It returns the number of rows.
//
// The runs are read in the order of their ids, as many at a time as make about one batch. The number is adapted, because the size of runs
// differs by orders of magnitude, and DuckDB keeps whole results in memory.
func (x *exporter) arrowTo(ctx context.Context, table, path string) (rows int64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, fmt.Errorf("export: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buffer := bufio.NewWriterSize(f, 1<<20)
	out, err := x.arrowWriter(ctx, table, buffer)
	if err != nil {
		return 0, err
	}
	ids := slices.Clone(x.ids)
	slices.SortFunc(ids, scan.CompareIDs)
	for most := 64; len(ids) > 0; {
		n, before := min(most, len(ids)), *out
		err := out.Query(ctx, x.Conn, x.of(ids[:n]).arrowStatement(table, ids[:n]))
		switch {
		case duck.OutOfMemory(err) && n > 1 && out.Rows == before.Rows:
			most = max(n/4, 1)
			continue
		case err != nil:
			return 0, err
		}
		ids = ids[n:]
		most = nextRuns(n, out.Bytes-before.Bytes)
	}
	if err := out.Close(); err != nil {
		return 0, err
	}
	return out.Rows, buffer.Flush()
}

// nextRuns returns the number of runs to read next, after n runs with this many bytes.
func nextRuns(n int, bytes int64) int {
	if bytes > duck.ArrowBatchBytes {
		return max(int(int64(n)*duck.ArrowBatchBytes/bytes), 1)
	}
	return min(2*n, scan.PageRows)
}

// of returns an exporter of some of the runs.
func (x *exporter) of(ids []schema.ULID) *exporter {
	some := *x
	some.src, some.among = x.src.Of(ids), " SEMI JOIN (SELECT unnest($1::VARCHAR[]) AS run_id) USING (run_id)"
	if len(ids) > 0 {
		first, last := slices.MinFunc(ids, scan.CompareIDs), slices.MaxFunc(ids, scan.CompareIDs)
		some.where = "run_id BETWEEN " + duck.Literal(first.String()) + " AND " + duck.Literal(last.String())
	}
	return &some
}

func (x *exporter) arrowStatement(table string, ids []schema.ULID) duck.Statement {
	return duck.Statement{SQL: "SELECT * FROM (" + x.tableSQL(table) + ") ORDER BY " + tableOrder[table], Args: []any{scan.IDTexts(ids)}}
}

// arrowWriter starts a stream or a file.
func (x *exporter) arrowWriter(ctx context.Context, table string, w io.Writer) (*duck.ArrowWriter, error) {
	_, fields, err := duck.ArrowColumns(ctx, x.Conn, x.of(nil).arrowStatement(table, nil).SQL)
	if err != nil {
		return nil, err
	}
	own := map[string]bool{} // names that users gave
	if x.req.Flat {
		_, entries := x.flatColumns(table)
		for name := range entries {
			own[name] = true
		}
	}
	fields = duck.WithArrowUnits(fields, own)
	if x.req.Dest == "-" {
		return duck.NewArrowStream(w, fields), nil
	}
	out, err := duck.NewArrowFile(w, fields)
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return out, nil
}

package query_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestPartIsNoFile: a path of samples or ops that is not a regular file is damage, and gives no answer without them.
func TestPartIsNoFile(t *testing.T) {
	t.Parallel()
	for _, table := range []*schema.Table{schema.Samples, schema.Ops} {
		dir := querytest.NewStore(t)
		name := filepath.Join(dir, querytest.Seal(t, dir, querytest.FullRun(1), querytest.Everything()).Path(schema.TableFolders[table]))
		good := filepath.Join(t.TempDir(), "good.parquet")
		valuetest.OK(t, errors.Join(os.Rename(name, good), os.Symlink(good, name)))
		text := "SELECT count(*) FROM " + table.Name
		if answer, err := sql.Select(context.Background(), querytest.Open(t, dir), text); !errors.Is(err, schema.ErrDamaged) {
			t.Errorf("%s: %v, %v", text, answer.Rows, err)
		}
	}
}

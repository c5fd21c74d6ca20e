package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/help"
	"github.com/neurolens/neurolens/query/sql"
)

// The dialects.
const (
	duckdb = "duckdb"
	spark  = "spark"
	trino  = "trino"
)

// viewsFlags are those of the command.
type viewsFlags struct{ dialect, location string }

// newStoreViewsCommand is store views.
func newStoreViewsCommand(a *app) *cobra.Command {
	f := viewsFlags{}
	cmd := &cobra.Command{
		Use:   "views",
		Short: "Print the SQL of the views, for DuckDB, Spark and Trino",
		Long: `Print SQL that makes the views of query in another program: runs, samples,
samples_long and ops.

duckdb  For DuckDB's own shell and for Python, with num(x). The views show the
        files of the store at the moment the text is loaded; tags and removed
        runs are those of the moment it is printed: print it again later.
spark   For Spark SQL 4, with num(x). Files, tags and removed runs are those of
        the moment the text is loaded.
trino   For the Hive connector of Trino. The views show sealed runs only, and
        tags and removed runs as they are at each query.

Spark and Trino need a path that every machine of the cluster can read:
--location names the store as they see it. It may be elsewhere, so no store has
to be here then. The topic spark says more.`,
		Example: `  neurolens store views > views.sql && duckdb -init views.sql
  python3 -ic "import duckdb; duckdb.execute(open('views.sql').read())"
  neurolens store views --dialect spark > views.sql && spark-sql -i views.sql
  neurolens store views --dialect trino --location s3://bench/runs_store`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := a.viewsText(f, cmd.Flags().Changed("location"))
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(a.stdout, text)
			return err
		},
	}
	cmd.Flags().StringVar(&f.dialect, "dialect", duckdb, "print SQL for `PROGRAM`: duckdb, spark or trino")
	cmd.Flags().StringVar(&f.location, "location", "", "the store as Spark or Trino finds it: an absolute path or a `URL`")
	help.Words(cmd, "dialect", []cobra.Completion{duckdb + "\tDuckDB's shell and Python", spark + "\tSpark SQL", trino + "\tTrino, Hive connector"})
	help.RegisterBeginnings(cmd, "location", []cobra.Completion{"file:///", "hdfs://", "s3://", "s3a://"})
	return cmd
}

// viewsText is the SQL for the dialect.
func (a *app) viewsText(f viewsFlags, located bool) (string, error) {
	dialects := map[string]func(location string) string{spark: sql.SparkViews, trino: sql.TrinoViews}
	views, ok := dialects[f.dialect]
	switch {
	case !ok && f.dialect != duckdb:
		return "", usageErrorf("--dialect %q: want duckdb, spark or trino", f.dialect)
	case !ok && located:
		return "", usageErrorf("--location: DuckDB reads the store of --store; want --dialect spark or trino")
	case located:
		if !isLocation(f.location) {
			return "", usageErrorf("--location %q: want an absolute path or a URL, such as s3a://bench/runs_store", f.location)
		}
		return views(f.location), nil
	}
	dir, err := a.writeStore()
	if err != nil {
		return "", err
	}
	if !ok {
		return sql.Views(dir)
	}
	location, err := sql.Location(dir)
	if err != nil {
		return "", err
	}
	return views(location), nil
}

// isLocation tells whether a text can be where a store is.
func isLocation(text string) bool {
	_, rest, isURL := strings.Cut(text, "://")
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl) && (isURL && rest != "" || strings.HasPrefix(text, "/"))
}

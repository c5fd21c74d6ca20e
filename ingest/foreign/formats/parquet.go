package formats

import (
	"bytes"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// NeurolensParquet is the name of the format of a folder in which an engine has written runs of a store. query.ReadParquet reads it, since
// it takes an engine to put its rows in order.
const NeurolensParquet = "neurolens-parquet"

var neurolensParquet = foreign.Format{
	Name:      NeurolensParquet,
	About:     "runs of a store that Spark, Trino or DuckDB selected: a folder with runs, samples and ops",
	Level:     "a run, a sample and an operator are rows, and a run keeps its id and digest",
	Recognize: func(h *foreign.Head) bool { return bytes.HasPrefix(h.Bytes, []byte("PAR1")) },
	Side:      "Parquet: --from " + NeurolensParquet + " reads the folder of runs, samples and ops that an engine selected out of a store",
}

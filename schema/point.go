package schema

import "maps"

// Point is the axes of a run, in canonical text, as files of results have them: the fields that PointID hashes. Params are the axes
// without a column of their own.
type Point struct {
	Benchmark string            `json:"benchmark"`
	Variant   string            `json:"variant,omitempty"`
	Backend   string            `json:"backend,omitempty"`
	Model     string            `json:"model,omitempty"`
	Precision string            `json:"precision,omitempty"`
	BatchSize *int64            `json:"batch_size,omitempty"`
	SeqLen    *int64            `json:"seq_len,omitempty"`
	Params    map[string]string `json:"params,omitempty"`
}

// PointOf returns the point of a run.
func PointOf(r *Run) Point {
	return Point{r.Benchmark, r.Variant, r.Backend, r.Model, r.Precision, r.BatchSize, r.SeqLen, r.Params}
}

// Set makes the point the point of a run. The run gets its own copy of the parameters.
func (p *Point) Set(r *Run) {
	r.Benchmark, r.Variant, r.Backend, r.Model, r.Precision = p.Benchmark, p.Variant, p.Backend, p.Model, p.Precision
	r.BatchSize, r.SeqLen, r.Params = p.BatchSize, p.SeqLen, maps.Clone(p.Params)
}

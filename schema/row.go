package schema

// RunRow gives the values of a run in the order of Runs.Columns. digest is that of DigestOf.
func RunRow(r *Run, digest string) []any {
	e, s := &r.Env, &r.Stages
	row := []any{
		text(r.RunID), text(r.SessionID), text(r.PointID), number(r.RepeatIndex), number(r.BlockIndex), number(r.PositionIndex),
		text(r.Side), text(r.Resumes), text(r.Purpose), text(r.Source), text(digest),
		text(r.Suite), text(r.Benchmark), text(r.Variant), text(r.Executor), text(r.Backend), text(r.BackendVersion), text(r.Model),
		text(r.ModelSHA256), text(r.Precision), number(r.BatchSize), number(r.SeqLen),
		texts(r.Params), texts(r.Applied), texts(r.Tags), number(r.Work.Bytes), number(r.Work.Flops), number(r.Work.Items),
		instant(r), text(r.TimeSource),
		number(s.Build), number(s.Setup), number(s.Warmup), number(s.Measure), number(s.Validate), number(s.Teardown), number(s.Profile),
		text(r.Status), text(r.Stage), text(r.ErrorKind), text(r.Error), number(r.ExitCode), text(r.Signal),
		list(r.Warnings), artifacts(r.Artifacts),
		text(e.HostID), text(e.Machine), text(e.Hostname), text(e.OS), text(e.OSKernel), text(e.CPUModel), number(e.CPUCount),
		number(e.MemoryBytes), text(e.GPUName), number(e.GPUCount), text(e.DriverVersion), text(e.CUDAVersion), text(e.PythonVersion),
		text(e.GitCommit), text(e.GitBranch), number(e.GitDirty), texts(e.Facts), texts(e.Missing),
	}
	primary := r.Metric(r.Primary)
	if primary == nil {
		return append(row, make([]any, len(Runs.Columns)-len(row))...)
	}
	row = append(row, text(primary.Name), text(primary.Unit), text(primary.Better), text(primary.Level), text(primary.Clock))
	return append(row, summaryRow(&primary.Summary)...)
}

// MetricRow gives the values of a metric in the order of Samples.Columns, without run_id.
func MetricRow(m *Metric) []any {
	row := []any{
		text(m.Name), text(m.Unit), text(m.Better), text(m.Clock), text(m.Level), nonzero(m.Tick),
		list(m.Ticks), list(m.Reals), list(m.WarmupTicks), list(m.WarmupReals), list(m.AtNS), list(m.IterationsPerSample),
	}
	return append(row, summaryRow(&m.Summary)...)
}

// OpRow gives the values of an op in the order of Ops.Columns, without run_id.
func OpRow(o *Op) []any {
	return []any{
		o.Index, text(o.Name), text(o.Type), text(o.Device), number(o.StartNS), number(o.DurationNS), number(o.Count),
		list(o.Kernels), texts(o.Counters),
	}
}

func summaryRow(s *Summary) []any {
	return []any{
		number(s.N), number(s.Min), number(s.Max), number(s.Mean), number(s.StdDev), number(s.P25), number(s.P50), number(s.P75),
		number(s.P90), number(s.P95), number(s.P99), number(s.MAD), number(s.LogMedian), number(s.First), number(s.SteadyIndex),
		number(s.Version),
	}
}

func artifacts(all []Artifact) any {
	if all == nil {
		return nil
	}
	rows := make([][]any, len(all))
	for i, a := range all {
		rows[i] = []any{text(a.Kind), text(a.Path), text(a.SHA256), number(a.Bytes)}
	}
	return rows
}

func instant(r *Run) any {
	if r.StartedAt.IsZero() {
		return nil
	}
	return r.StartedAt.UTC()
}

func text[T ~string](s T) any {
	if s == "" {
		return nil
	}
	return string(s)
}

func number[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

func nonzero(f float64) any {
	if f == 0 {
		return nil
	}
	return f
}

func list[T any](l []T) any {
	if l == nil {
		return nil
	}
	return l
}

func texts[V any](m map[string]V) any {
	if m == nil {
		return nil
	}
	return m
}

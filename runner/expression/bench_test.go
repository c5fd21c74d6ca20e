package expression

import "testing"

func BenchmarkEval(b *testing.B) {
	for _, text := range []string{
		"cpu_user + cpu_system", "bandwidth / peak", `backend == "cuda" and batch_size * seq_len > 5e7`, "(peak ?? 0) < 10",
	} {
		e, err := Compile(text, Scope{Names: map[string]Kind{
			"cpu_user": Number, "cpu_system": Number, "bandwidth": Number, "peak": Number, "backend": Text, "batch_size": Number, "seq_len": Number,
		}}, Any)
		if err != nil {
			b.Fatal(err)
		}
		values := map[string]any{"cpu_user": 1.5, "cpu_system": 0.5, "bandwidth": 1e9, "peak": 3e12, "backend": "cuda", "batch_size": 4.0, "seq_len": 128.0}
		b.Run(text, func(b *testing.B) {
			v := e.Evaluator()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v.Eval(values); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

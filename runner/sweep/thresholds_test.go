package sweep

import "testing"

func TestThresholds(t *testing.T) {
	equal(t, parse(t, tiny, Overrides{}).Points[0].Thresholds, map[string]string(nil))
	s := parse(t, tiny+`
thresholds:
  latency: 5%
  energy: 7%
  throughput: 0.07
  peak_memory: {abs: 64 MiB}
  ttft: {abs: 2ms}
  rmse: {abs: 1e-3}
  accuracy: {abs: 0.5%}
  of my own: {abs: 3}
  max_error: {abs: 0}
`, Overrides{})
	equal(t, s.Points[0].Thresholds, map[string]string{
		"latency": "5%", "energy": "7%", "throughput": "7%", "peak_memory": "67108864 B", "ttft": "2000000 ns", "rmse": "0.001",
		"accuracy": "0.005", "of my own": "3", "max_error": "0",
	})
}

func TestErrorsOfThresholds(t *testing.T) {
	check := refuses(t, tiny)
	check("thresholds: 5%", `3: thresholds: want a map, got "5%"`)
	check("thresholds: {}", "3: thresholds: is empty")
	check("thresholds:\n  latency: 5%\n  latency: 6%", "5: duplicate key latency: line 4 sets it already")
	check("thresholds:\n  latency: 5", "4: thresholds.latency: want more than 0 and less than 1 (100%), got 5")
	check("thresholds:\n  latency: 0%", "4: thresholds.latency: want more than 0 and less than 1 (100%), got 0")
	check("thresholds:\n  latency: -5%", "4: thresholds.latency: want more than 0 and less than 1 (100%), got -0.05")
	check("thresholds:\n  latency: 5ms", `4: thresholds.latency: want a share (1% or 0.01), got "5ms"`)
	check("thresholds:\n  latency: [5%]", "4: thresholds.latency: want a share (1% or 0.01), got a list")
	check("thresholds:\n  latency:", "4: thresholds.latency: want a share (1% or 0.01), got nothing")
	check("thresholds:\n  rmse:\n    absolute: 1", "5: thresholds.rmse: unknown key absolute: want one of abs")
	check("thresholds:\n  rmse: {}", "4: thresholds.rmse: want a share (5%) or {abs: amount}, got a map")
	check("thresholds:\n  rmse:\n    abs: few", `5: thresholds.rmse.abs: want an amount (1e-3, 2 ms), got "few"`)
	check("thresholds:\n  rmse: {abs: -1}", "4: thresholds.rmse.abs: want an amount (1e-3, 2 ms), got -1")
	check("thresholds:\n  rmse: {abs: .nan}", "4: thresholds.rmse.abs: want an amount (1e-3, 2 ms), got .nan")
	check("thresholds:\n  rmse: {abs: 1e999}", `4: thresholds.rmse.abs: want an amount (1e-3, 2 ms), got "1e999"`)
	check("thresholds:\n  rmse: {abs: }", "4: thresholds.rmse.abs: want an amount (1e-3, 2 ms), got nothing")
	check("thresholds:\n  ttft: {abs: 2 parsec}", `4: thresholds.ttft.abs: unit "parsec" is not known`)
	check("thresholds:\n  latency: {abs: 2 MiB}", "4: thresholds.latency.abs: latency is in ns, not in MiB")
}

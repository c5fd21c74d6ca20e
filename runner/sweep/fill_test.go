package sweep

import "testing"

// TestBracesAreFilled: the words of the top name axes, and what is stored has no braces.
func TestBracesAreFilled(t *testing.T) {
	t.Parallel()
	s := parse(t, `benchmark: "{chapter}/{example}"
backend: "{device}"
variant: ["{device}-a", "b"]
command: [run, "{benchmark}", "{variant}", "{chapter}", "{example}", "{device}"]
zip: [chapter, example]
grid: {chapter: [ch1, ch1, ch2], example: [sum, max, sum], device: [cpu, gpu]}
exclude: [{benchmark: ch2/sum, device: gpu}]
baseline: variant=b`, Overrides{})
	equal(t, len(s.Points), 10)
	equal(t, len(s.blocks), 5)
	p := s.Points[0]
	equal(t, []string{p.Benchmark, p.Backend, p.Variant}, []string{"ch1/sum", "cpu", "cpu-a"})
	equal(t, p.Command, []string{"run", "ch1/sum", "cpu-a", "ch1", "sum", "cpu"})

	s = parse(t, "backend: onnxrt\nmodel: \"m/{size}/net.{size}.onnx\"\ngrid: {size: [s, l]}", Overrides{})
	equal(t, []string{s.Points[1].Model, s.Points[1].ModelPath}, []string{"net.l.onnx", "m/l/net.l.onnx"})
	s = parse(t, "backend: builtin\nmodel: \"builtin:{op}\"\ngrid: {op: [add, mul]}", Overrides{})
	equal(t, []string{s.Points[1].Model, s.Points[1].ModelPath}, []string{"builtin:mul", ""})
	equal(t, parse(t, "command: a\nbenchmark: '{{x}}'", Overrides{}).Points[0].Benchmark, "{x}")
	equal(t, parse(t, "command: [a, '{p}']\ngrid: {p: ['{\"k\": {}}', '{{ x }}', '{other}']}", Overrides{}).Points[2].Params["p"], "{other}")
}

func TestBracesAreRefused(t *testing.T) {
	t.Parallel()
	check := refuses(t, "command: [a, '{dim}']\ngrid: {dim: [1, 2]}\n")
	check("benchmark: '{dimm}'", "3: benchmark: {dimm} is not an axis: did you mean {dim}? (write {{ and }} for literal braces)")
	check("benchmark: 'a{b'", `3: benchmark: unmatched { in "a{b": write {{ for a literal brace`)
	check("variant: '{seed}'", "3: variant: {seed} has no value: set seed")
	check("benchmark: '{variant}'\nvariant: '{dim}'", "3: benchmark: {variant} contains braces itself: write its text here instead")
	check("variant: '{variant}'", "3: variant: {variant} contains braces itself: write its text here instead")
	const unfilled = " is not filled in here: use it in benchmark, model, backend, variant, command, file, env or cwd"
	check("suite: 's{dim}'", "3: suite: {dim}"+unfilled)
	check("tags: {a: '{nope}'}", "3: tags.a: {nope}"+unfilled)
	check("share: ['data/{dim}']", "3: share: {dim}"+unfilled)
	check("env: {'{dim}': 1}", "3: env.{dim}: {dim}"+unfilled)
	check("benchmark: '{dim}'\nexclude: [{benchmark: '{dim}'}]", "4: exclude: axis benchmark: {dim}"+unfilled)
	check("params: {p: 'x{dim}'}", "3: params.p: {dim} is not filled in inside a value: use it in benchmark, model, backend, variant, command, file, env or cwd")
	refuses(t, "")("backend: onnxrt\nmodel: '{size}/net.onnx'\ngrid: {size: [s, l]}",
		"2: model: s/net.onnx and l/net.onnx are both called net.onnx: set model.name")
}

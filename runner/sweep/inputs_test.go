package sweep

import "testing"

const echo = "backend: onnxrt\nmodel: m.onnx\n"

// TestInputs: each spelling of what an input holds, with the axes in it.
func TestInputs(t *testing.T) {
	s := parse(t, echo+`
inputs:
  steps: "{steps}"
  flag: true
  ids: "{data}/ids.npy"
  one: {file: all.npz, name: "x{steps}"}
  range: {high: "{steps}"}
  between: {low: -0.5, high: 1e2}
  normal: {mean: 1.0, std: 2}
  word: {value: yes}
  gone: absent
  sized: {shape: [1, "{steps}"]}
grid: {steps: [50], data: [d], M: [3]}
`, Overrides{})
	p := s.Points[0]
	equal(t, p.Inputs, map[string]Input{
		"steps": {Value: "50"}, "flag": {Value: "true"}, "ids": {File: "d/ids.npy"}, "one": {File: "all.npz", Name: "x50"},
		"range": {High: "50"}, "between": {Low: "-0.5", High: "100"}, "normal": {Mean: "1", Std: "2"}, "word": {Value: "yes"},
		"gone": {Value: "absent"}, "sized": {Shape: []string{"1", "50"}},
	})
	equal(t, p.Used, []string{"steps", "data"})
	equal(t, parse(t, echo+"inputs: {a: {low: 1, high: 3}}", Overrides{}).Points[0].Settings()["inputs"], `{"a":{"high":"3","low":"1"}}`)

	large := `{"a":{"value":"18446744073709551615"},"b":{"high":"18446744073709551616","low":"18446744073709551615"},"c":{"value":"18446744073709551615"}}`
	equal(t, parse(t, echo+"inputs: {a: 18446744073709551615, b: {low: 18446744073709551615, high: 18446744073709551616}, c: {value: 18446744073709551615}}",
		Overrides{}).Points[0].Settings()["inputs"], large)

	// What a layer says of an input takes the place of another way to say it.
	s = parse(t, echo+"inputs: {a: {high: 3, shape: [2]}, b: 1}", Overrides{Set: []string{"inputs.a.low=1", "inputs.b={std: 2}"}})
	equal(t, s.Points[0].Inputs, map[string]Input{"a": {Low: "1", High: "3", Shape: []string{"2"}}, "b": {Std: "2"}})
	s = parse(t, echo+"inputs: {a: {high: 3, shape: [2]}}", Overrides{Set: []string{"inputs.a={value: 1}"}})
	equal(t, s.Points[0].Inputs, map[string]Input{"a": {Value: "1", Shape: []string{"2"}}})
}

// TestSession: options of the session, with the axes in them.
func TestSession(t *testing.T) {
	s := parse(t, echo+`
session:
  graph_optimization_level: "{opt}"
  inter_op_num_threads: 2
  enable_mem_pattern: false
  free_dimension_overrides: {N: "{n}"}
  config_entries: {session.intra_op.allow_spinning: 0}
  custom_ops_library: [a.so, "{opt}.so"]
grid: {opt: [basic], n: [4]}
`, Overrides{})
	equal(t, s.Points[0].Session, &Session{
		Options: map[string]string{"graph_optimization_level": "basic", "inter_op_num_threads": "2", "enable_mem_pattern": "false"},
		Sizes:   map[string]string{"N": "4"}, Entries: map[string]string{"session.intra_op.allow_spinning": "0"},
		Libraries: []string{"a.so", "basic.so"},
	})
	equal(t, s.Points[0].Used, []string{"opt", "n"})
	torch := parse(t, "model: m.pt\nsession: {execution_mode: parallel}\ngrid: {backend: [torch, onnxrt]}", Overrides{})
	equal(t, torch.Points[0].Session, (*Session)(nil))
	equal(t, torch.Points[1].Session.Options["execution_mode"], "parallel")
}

// TestInputsAndSessionRefused: what is wrong is found on reading, with its line.
func TestInputsAndSessionRefused(t *testing.T) {
	check := refuses(t, echo+"grid: {k: [x], execution_mode: [parallel]}\n")
	check("inputs: 3", "4: inputs: want a map, got 3")
	check("inputs: {}", "4: inputs: is empty")
	check("inputs: {a: }", `4: inputs.a: is empty: write "" for an empty text`)
	check("inputs: {a: normal}", `4: inputs.a: want a number, true, false, a .npy or .npz file, or a map, got "normal": a text is {value: TEXT}`)
	check(`inputs: {a: "{k}"}`, `4: inputs.a: want a number, true, false, a .npy or .npz file, or a map, got "x": a text is {value: TEXT}`)
	check(`inputs: {a: "{j}"}`, "4: inputs.a: {j} is not an axis (write {{ and }} for literal braces)")
	check("inputs: {a: {}}", "4: inputs.a: says nothing: want file high low mean name shape std value")
	check("inputs: {a: {hihg: 3}}", "4: inputs.a: unknown key hihg: did you mean high?")
	check("inputs: {a: {low: 3}}", "4: inputs.a: low needs a high")
	check("inputs: {a: {name: x}}", "4: inputs.a: name needs a file")
	check("inputs: {a: {high: 3, std: 1}}", "4: inputs.a: high and std cannot be combined: use one of them")
	check("inputs: {a: {low: 3, high: 3}}", "4: inputs.a.low: 3 is not below high, which is 3")
	check("inputs: {a: {low: 9007199254740993, high: 9007199254740992}}", "4: inputs.a.low: 9007199254740993 is not below high, which is 9007199254740992")
	check("inputs: {a: {low: 18446744073709551615, high: 18446744073709551614}}", "4: inputs.a.low: 18446744073709551615 is not below high, which is 18446744073709551614")
	check("inputs: {a: 123456789012345678901}", "4: inputs.a: 123456789012345678901 does not fit in 64 bits: quote it to keep it as text")
	check("inputs: {a: {high: x}}", `4: inputs.a.high: want a number, got "x"`)
	check("inputs: {a: {std: -1}}", "4: inputs.a.std: want a number of at least 0, got -1")
	check("inputs: {a: {file: a.txt}}", `4: inputs.a.file: want a .npy or .npz file, got "a.txt"`)
	check("inputs: {a: {shape: 3}}", "4: inputs.a.shape: want a list of sizes, got 3")
	check("inputs: {a: {shape: [-1]}}", `4: inputs.a.shape: want a list of whole numbers of at least 0, got "-1"`)
	check("inputs: {a: {file: a.npy, name: '{run_dir}'}}", "4: inputs.a.name: {run_dir} is the directory of one run: use it only in command, env, artifacts, and in from of metrics and output")
	check("session: 3", "4: session: want a map, got 3")
	check("session: {graph_optimization: basic}", "4: session: unknown key graph_optimization: did you mean graph_optimization_level?")
	check("session: {graph_optimization_level: most}", `4: session.graph_optimization_level: want one of disable_all basic extended layout all, got "most"`)
	check("session: {enable_mem_reuse: 1}", `4: session.enable_mem_reuse: want true or false, got "1"`)
	check(`session: {enable_mem_reuse: "{k}"}`, `4: session.enable_mem_reuse: want true or false, got "x"`)
	check("session: {inter_op_num_threads: -1}", `4: session.inter_op_num_threads: want a whole number from 0 to 1048576, got "-1"`)
	check("session: {intra_op_num_threads: 1}", "4: session.intra_op_num_threads: is the key threads: use that")
	check("session: {free_dimension_overrides: {N: x}}", `4: session.free_dimension_overrides.N: want a whole number of at least 1, got "x"`)
	check("session: {config_entries: 3}", "4: session.config_entries: want a map, got 3")
	check("session: {execution_mode: parallel}", "4: session.execution_mode: there is an axis execution_mode too: write {execution_mode} here, or remove this key")
	check = refuses(t, "file: b.py\n")
	check("inputs: {a: 1}", "2: inputs: not supported with file: only with onnxrt, torch and tensorrt")
	check("session: {execution_mode: parallel}", "2: session: not supported with file: only with onnxrt")
}

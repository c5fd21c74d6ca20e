package sweep

import (
	"fmt"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// referencesOf names the reference of each point, in the order of the points.
func referencesOf(s *Sweep) (all []string) {
	for i := range s.Points {
		p := &s.Points[i]
		if p.Reference == nil {
			all = append(all, p.Describe()+": none")
			continue
		}
		all = append(all, fmt.Sprintf("%s: %s %s", p.Describe(), p.Reference.Point.Describe(), p.Reference.Point.File))
	}
	slices.Sort(all)
	return all
}

// TestReferenceOfVariants: a point's reference has the same values of the axes that both have, whatever else its variant has.
func TestReferenceOfVariants(t *testing.T) {
	s := parse(t, operations+"reference: {variant: PyTorch, rtol: 1e-3}\n", Overrides{Params: map[string]string{"benchmark": "Loss", "loss": "ce"}})
	equal(t, referencesOf(s), []string{
		"benchmark=Loss variant=CUDA batch_size=1 loss=ce tile=16: benchmark=Loss variant=PyTorch batch_size=1 loss=ce ops/pytorch.py",
		"benchmark=Loss variant=CUDA batch_size=1 loss=ce tile=32: benchmark=Loss variant=PyTorch batch_size=1 loss=ce ops/pytorch.py",
		"benchmark=Loss variant=CUDA batch_size=2 loss=ce tile=16: benchmark=Loss variant=PyTorch batch_size=2 loss=ce ops/pytorch.py",
		"benchmark=Loss variant=CUDA batch_size=2 loss=ce tile=32: benchmark=Loss variant=PyTorch batch_size=2 loss=ce ops/pytorch.py",
		"benchmark=Loss variant=PyTorch batch_size=1 loss=ce: benchmark=Loss variant=PyTorch batch_size=1 loss=ce ops/pytorch.py",
		"benchmark=Loss variant=PyTorch batch_size=2 loss=ce: benchmark=Loss variant=PyTorch batch_size=2 loss=ce ops/pytorch.py",
	})
	p := &s.Points[0]
	equal(t, p.Reference.Tolerance, output.Tolerance{Relative: 1e-3, Absolute: 1e-8})
	equal(t, *p.Seed, int64(42)) // two outputs need the same inputs
	equal(t, p.Settings()["reference"], "variant=\"PyTorch\" rtol=0.001 atol=1e-08")
}

// TestReferenceOfWhatAVariantIs: what is constant in each variant, and what moves together with the axis of the reference,
// says what is compared and not where.
func TestReferenceOfWhatAVariantIs(t *testing.T) {
	s := parse(t, "command: [a, '{variant}', '{z}', '{n}']\noutput: {}\ngrid: {n: [1, 2]}\nvariants: {slow: {params: {z: 2}}, fast: {params: {z: 0}}}\nreference: {variant: slow}\n", Overrides{})
	equal(t, referencesOf(s), []string{
		"benchmark=a variant=fast n=1 z=0: benchmark=a variant=slow n=1 z=2 ",
		"benchmark=a variant=fast n=2 z=0: benchmark=a variant=slow n=2 z=2 ",
		"benchmark=a variant=slow n=1 z=2: benchmark=a variant=slow n=1 z=2 ",
		"benchmark=a variant=slow n=2 z=2: benchmark=a variant=slow n=2 z=2 ",
	})
	zipped := "command: [a, '{precision}', '{z}', '{n}']\noutput: {}\ngrid: {precision: [fp32, fp64], z: [0, 2], n: [1, 2]}\nzip: [precision, z]\nreference: {precision: fp64}\n"
	for _, o := range []Overrides{{}, {Params: map[string]string{"precision": "fp32"}}} {
		all := referencesOf(parse(t, zipped, o))
		equal(t, all[:2], []string{
			"benchmark=a precision=fp32 n=1 z=0: benchmark=a precision=fp64 n=1 z=2 ",
			"benchmark=a precision=fp32 n=2 z=0: benchmark=a precision=fp64 n=2 z=2 ",
		})
	}
	// An axis that another variant has several values of is one: n=2 has no reference here.
	check := refuses(t, "command: [a, '{variant}', '{n}']\noutput: {}\ngrid: {n: [1, 2]}\n")
	check("variants: {slow: {grid: {n: 1}}, fast: }\nreference: {variant: slow}", "5: reference: the point benchmark=a variant=fast n=2 has no reference: no point with these values matches it")
}

// TestReferenceOfDerivedNames: a benchmark that no key names is called after its function, file or program. That name does not
// tell what the output of a point is compared with, as it does not tell which points compare and baseline pair.
func TestReferenceOfDerivedNames(t *testing.T) {
	sweeps := map[string]string{
		"functions": "variants: {good: {file: 'w.py:good'}, bad: {file: 'w.py:bad'}}\n",
		"files":     "variants: {good: {file: good.py}, bad: {file: bad.py}}\n",
		"programs":  "output: {}\nvariants: {good: {command: [./good, '{n}']}, bad: {command: [./bad, '{n}']}}\n",
	}
	for name, text := range sweeps {
		s := parse(t, text+"grid: {n: [1, 2]}\nreference: {variant: good}\n", Overrides{})
		for i := range s.Points {
			p, reference := &s.Points[i], s.Points[i].Reference
			if reference == nil || reference.Point.Variant != "good" || reference.Point.Params["n"] != p.Params["n"] {
				t.Errorf("%s: %s has the reference %v", name, p.Describe(), reference)
			}
		}
		equal(t, len(s.Points), 4)
	}
	s := parse(t, "file: 'ops_{impl}.py'\ngrid: {impl: [a, b], n: [1, 2]}\nreference: {impl: a}\n", Overrides{})
	for i := range s.Points {
		p := &s.Points[i]
		equal(t, p.Reference.Point.File+" "+p.Reference.Point.Params["n"], "ops_a.py "+p.Params["n"])
	}
	// The name of a benchmark that a key names tells points apart.
	for _, text := range []string{
		"benchmark: 'op-{op}'\nfile: 'w.py:{op}'\ngrid: {op: [add, mul], precision: [fp32, fp64]}\n",
		"benchmarks: {add: {file: 'w.py:add'}, mul: {file: 'w.py:mul'}}\ngrid: {precision: [fp32, fp64]}\n",
	} {
		s := parse(t, text+"reference: {precision: fp64}\n", Overrides{})
		for i := range s.Points {
			if p := &s.Points[i]; p.Reference.Point.Benchmark != p.Benchmark || p.Reference.Point.Precision != "fp64" {
				t.Errorf("%s has the reference %s", p.Describe(), p.Reference.Point.Describe())
			}
		}
		equal(t, len(s.Points), 4)
	}
}

// TestReferenceFunction: a function of the file is run with what the point has, in place of what is measured.
func TestReferenceFunction(t *testing.T) {
	s := parse(t, "file: 'k.py:{kind}'\ngrid: {kind: [a, b], n: 3}\nreference: {function: 'expected_{kind}', rtol: 1e-3}\ncheck: rmse < 1\n", Overrides{})
	var got []string
	for i := range s.Points {
		p, r := &s.Points[i], s.Points[i].Reference
		got = append(got, fmt.Sprint(p.Object, " ", r.Point.File, " ", r.Point.Object, " ", r.Point.Params, " ", *r.Point.Seed, " ", r.Point.Compared, len(r.Point.Checks), " ", p.Settings()["reference"]))
	}
	equal(t, got, []string{
		"a k.py expected_a map[kind:a n:3] 42 true 0 function=expected_a rtol=0.001 atol=1e-08",
		"b k.py expected_b map[kind:b n:3] 42 true 0 function=expected_b rtol=0.001 atol=1e-08",
	})
	equal(t, len(s.References()), 2)
}

// TestReferenceStays: what the command line leaves out or replaces is right all the same.
func TestReferenceStays(t *testing.T) {
	s := parse(t, operations+"reference: {variant: PyTorch}\n", Overrides{
		Params: map[string]string{"variant": "CUDA", "bs": "8"}, Targets: []string{"ops:GELU"},
	})
	equal(t, referencesOf(s), []string{
		"benchmark=GELU variant=CUDA batch_size=8 tile=16: benchmark=GELU variant=PyTorch batch_size=8 ops/pytorch.py",
		"benchmark=GELU variant=CUDA batch_size=8 tile=32: benchmark=GELU variant=PyTorch batch_size=8 ops/pytorch.py",
	})
	s = parse(t, "file: k.py\ngrid: {precision: [fp32, fp16], n: [1, 2]}\nreference: {dtype: fp64}\n", Overrides{})
	equal(t, referencesOf(s), []string{
		"benchmark=k.py precision=fp16 n=1: benchmark=k.py precision=fp64 n=1 k.py",
		"benchmark=k.py precision=fp16 n=2: benchmark=k.py precision=fp64 n=2 k.py",
		"benchmark=k.py precision=fp32 n=1: benchmark=k.py precision=fp64 n=1 k.py",
		"benchmark=k.py precision=fp32 n=2: benchmark=k.py precision=fp64 n=2 k.py",
	})
}

// TestReferenceSpelling: a reference takes the names and the values of its axes as the measured points do, however the key reference has them.
func TestReferenceSpelling(t *testing.T) {
	const file = "file: 'k.py:f'\n"
	tests := map[string]struct {
		text   string
		params map[string]string
		want   string // the name of the axis, and the value at the reference, as written
	}{
		"axis":           {"grid: {dtype: [float32, float16]}\nreference: {precision: fp32}\n", nil, "dtype float32"},
		"as it stands":   {"grid: {dtype: [fp32, float16]}\nreference: {dtype: float32}\n", nil, "dtype "},
		"parameter":      {"grid: {n: [1.0, 2.0]}\nreference: {n: 1}\n", nil, " 1.0"},
		"text":           {"grid: {n: ['8', '9']}\nreference: {n: '8'}\n", nil, ` "8"`},
		"include":        {"grid: {dtype: [float16]}\ninclude: [{dtype: float32}]\nreference: {precision: fp32}\n", nil, "dtype float32"},
		"zip":            {"grid: {dtype: [float32, float16], n: [1, 2]}\nzip: [dtype, n]\nreference: {precision: fp32}\n", nil, "dtype float32"},
		"left out":       {"grid: {dtype: [float32, float16]}\nreference: {precision: fp32}\n", map[string]string{"dtype": "float16"}, "dtype float32"},
		"command line":   {"grid: {dtype: [fp32, fp16]}\nreference: {precision: fp32}\n", map[string]string{"dtype": "float16,float32"}, "dtype float32"},
		"not measured":   {"grid: {dtype: [float32, float16]}\nreference: {precision: double}\n", nil, "dtype double"},
		"name by option": {"grid: {precision: [fp32, fp16]}\nreference: {precision: fp32}\n", map[string]string{"dtype": "fp16"}, "dtype "},
	}
	for name, test := range tests {
		s := parse(t, file+test.text, Overrides{Params: test.params})
		for i := range s.Points {
			r := s.Points[i].Reference.Point
			axis := "precision"
			if r.Precision == "" {
				axis = "n"
			}
			valuetest.DeepEqual(t, r.Called[axis]+" "+r.Written[axis], test.want, name, s.Points[i].Describe())
		}
	}
	s := parse(t, file+"grid: {batch: [1, 2], seq: 8}\nreference: {batch_size: 1}\n", Overrides{})
	equal(t, s.Points[1].Reference.Point.Spellings(), s.Points[1].Spellings())
}

// TestSkippedReference: a point whose reference is skipped is one without a reference that can be run.
func TestSkippedReference(t *testing.T) {
	s := parse(t, "file: k.py\ngrid: {precision: [fp32, fp16], n: [1, 2]}\nreference: {precision: fp32}\n"+
		"skip_if: {when: precision == 'fp32' and n == 2}\n", Overrides{})
	var got []bool
	for i := range s.Points {
		got = append(got, s.Points[i].Reference.Point.Skip != nil)
	}
	equal(t, got, []bool{false, false, true})
	equal(t, len(s.References()), 1)
}

func TestErrorsOfReference(t *testing.T) {
	check := refuses(t, "file: k.py\n")
	check("reference: 1", "2: reference: want a map, got 1")
	check("reference: {}", "2: reference: names nothing to compare with: want values of axes, such as {variant: PyTorch}, from: FILE, or function: NAME")
	check("grid: {n: [1, 2]}\nreference: {m: 1}", "3: reference.m: is neither an axis of this sweep nor one of atol from function read rtol")
	check("grid: {n: [1, 2]}\nreference: {n: [1]}", "3: reference.n: want one value of the axis, got a list")
	check("reference: {from: a.npy, read: xml}", `2: reference.read: want one of npy csv json text, got "xml"`)
	check("reference: {from: a.npy, rtol: -1}", "2: reference.rtol: want a number of at least 0, got -1")
	check("reference: {from: a.npy, rtol: x}", `2: reference.rtol: want a number of at least 0, got "x"`)
	check("grid: {n: 1}\nreference: {from: a.npy, n: 1}", "3: reference: values of axes, from and function cannot be combined: use one of them")
	check("reference: {from: a.npy, function: f}", "2: reference: values of axes, from and function cannot be combined: use one of them")
	check("reference: {function: [f]}", "2: reference.function: want one value, got a list")
	check("grid: {n: [1, 2]}\nexclude: [{n: 1}]\nreference: {n: 1}", "4: reference: the point benchmark=k.py n=2 has no reference: no point with these values matches it")
	check("output: {from: x}", "2: output: not supported with file: only with command")
	check("deterministic: 1", "2: deterministic: want true or false, got 1")

	check = refuses(t, "command: [a, '{n}']\ngrid: {n: [1, 2]}\n")
	check("reference: {n: 1}", "1: reference and deterministic need the output of the command: say where it is, such as output: {from: stdout, read: text}")
	check("output: stdout", `3: output: want null, keep or a file, got stdout: to read numbers from standard output, write {from: stdout}`)
	check("output: {read: xml}", `3: output.read: want one of npy csv json text, got "xml"`)
	check("output: {from: '{m}'}", "3: output.from: {m} is not an axis (write {{ and }} for literal braces)")

	check("output: {}\nreference: {function: f}", "4: reference: function is not supported with command: only with file")

	check = refuses(t, "backend: builtin\nmodel: builtin:x\n")
	check("reference: {from: x}", "3: reference: not supported with builtin: only with command, file, onnxrt and torch")
	check = refuses(t, "model: builtin:add\nbackend: [torch, onnxrt]\n")
	check("reference: {backend: torch}", "3: reference: onnxrt and torch use different inputs and weights: want a reference with the same backend")
	check = refuses(t, "model: builtin:add\nbackend: [torch, builtin]\n")
	check("reference: {backend: torch}", "3: reference: builtin has no output to compare: only command, file, onnxrt and torch have")
}

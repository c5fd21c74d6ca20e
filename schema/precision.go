package schema

import (
	"fmt"
	"strings"
)

// Precisions are the canonical names of the number formats that a model can have.
var Precisions = []string{"fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8", "int4"}

var precisionAliases = map[string]string{
	"float64": "fp64", "double": "fp64", "f64": "fp64",
	"float32": "fp32", "float": "fp32", "single": "fp32", "f32": "fp32",
	"tensorfloat32": "tf32",
	"float16":       "fp16", "half": "fp16", "f16": "fp16",
	"bfloat16": "bf16",
	"float8":   "fp8",
	"i8":       "int8",
	"i4":       "int4",
}

// CanonicalPrecision returns the canonical name of a precision or of one of its aliases (float32, half). Case does not matter.
func CanonicalPrecision(text string) (string, error) {
	name := strings.ToLower(text)
	if alias, ok := precisionAliases[name]; ok {
		name = alias
	}
	for _, p := range Precisions {
		if p == name {
			return p, nil
		}
	}
	return "", fmt.Errorf("precision %q: want one of %s", text, strings.Join(Precisions, " "))
}

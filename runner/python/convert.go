package python

import (
	"fmt"
	"slices"
	"strings"
)

// Converter is a tool in an interpreter that converts ONNX files to another precision.
type Converter struct {
	python  string
	tool    string // its module, which packages.py knows
	version string // of it and of what else decides what it writes
	to      string // the precision
}

// converterFile is the program that uses the tools.
const converterFile = "convert.py"

// converters are the modules that can convert from fp32, the preferred first. All of them need the package onnx.
// onnxruntime comes first, because it is what measures.
var converters = map[string][]string{
	"fp16": {"onnxruntime", "onnxconverter_common"},
	"int8": {"onnxruntime"},
}

// Converter finds the tool for a conversion in this interpreter. If it has none, install is the command that installs one. The error is of
// a conversion for which no tool is known.
func (i Interpreter) Converter(from, to string) (tool Converter, install string, err error) {
	tools := converters[to]
	if from != "fp32" || len(tools) == 0 {
		return Converter{}, "", fmt.Errorf("no tool is known to convert %s to %s", from, to)
	}
	at := slices.IndexFunc(tools, func(tool string) bool { return i.Packages[tool] != "" })
	if at < 0 || i.Packages["onnx"] == "" {
		missing := []string{"onnx"}
		if at < 0 {
			missing = append(missing, tools[0])
		}
		return Converter{}, i.Path + " -m pip install " + strings.Join(missing, " "), nil
	}
	module := tools[at]
	version := fmt.Sprintf("%s %s, onnx %s", strings.ReplaceAll(module, "_", "-"), i.Packages[module], i.Packages["onnx"])
	return Converter{python: i.Path, tool: module, version: version, to: to}, "", nil
}

// String names the tool with all versions that affect its output.
func (c Converter) String() string { return c.version }

// Command is the command that converts the file from and writes the file to.
func (c Converter) Command(from, to string) ([]string, error) {
	source, err := sources.ReadFile(converterFile)
	if err != nil {
		return nil, fmt.Errorf("reading the converter: %w", err)
	}
	return []string{c.python, "-c", question + "\n" + string(source), c.tool, c.to, from, to}, nil
}

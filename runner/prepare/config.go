package prepare

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/neurolens/neurolens/runner/builtin"
	"github.com/neurolens/neurolens/runner/shellwords"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// configOf is a point in the form that a worker gets: axes with a column under their names, the others with the prefix param. Axes that
// the point does not have are left out, and so are labels that the builtin worker does not use.
func configOf(p *sweep.Point) map[string]string {
	if p.Calibration {
		return map[string]string{builtin.CalibrationKey: p.Variant}
	}
	config := map[string]string{}
	texts := map[string]string{"benchmark": p.Benchmark, "model": p.Model, "precision": p.Precision}
	if p.Executor != schema.ExecutorBuiltin {
		texts["backend"], texts["variant"] = p.Backend, p.Variant
	}
	for key, text := range texts {
		if text != "" {
			config[key] = text
		}
	}
	for key, n := range map[string]*int64{"batch_size": p.BatchSize, "seq_len": p.SeqLen} {
		if n != nil {
			config[key] = strconv.FormatInt(*n, 10)
		}
	}
	for name, text := range p.Params {
		config["param."+name] = text
	}
	return config
}

// requested are the settings of a launch that do not identify what is measured.
func requested(p *sweep.Point) map[string]string {
	facts := map[string]string{}
	for key, text := range p.Settings() {
		facts[factSetting+key] = text
	}
	if p.Object != "" {
		facts[factObject] = p.Object
	}
	return facts
}

// jsonList is a list of texts as canonical JSON, those that are not UTF-8 as shellwords.ToUTF8 writes them.
func jsonList(list []string) string {
	all := make([]any, len(list))
	for i, word := range list {
		all[i] = shellwords.ToUTF8(word)
	}
	text, err := schema.CanonicalJSON(all)
	if err != nil {
		return "" // texts always have one
	}
	return text
}

// jsonMap is a map of texts as canonical JSON.
func jsonMap(texts map[string]string) string {
	object := map[string]any{}
	for key, text := range texts {
		object[key] = text
	}
	text, err := schema.CanonicalJSON(object)
	if err != nil {
		return "" // texts always have one
	}
	return text
}

// configHash is the hash of all settings of a launch, except deadlines: a run that did not need a longer one counts. Files are included
// by name; their hashes are separate facts.
func configHash(p *sweep.Point) string {
	lines := []string{string(p.Executor), p.Python, strconv.Itoa(p.Threads), time.Duration(p.MinRunTime).String()}
	for key, value := range requested(p) {
		lines = append(lines, key+"="+value)
	}
	for key, value := range p.Env {
		lines = append(lines, "env."+key+"="+value)
	}
	for i, command := range p.Build {
		lines = append(lines, fmt.Sprintf("build.%d=%s", i, jsonList(command)))
	}
	if p.Executor == schema.ExecutorPython {
		for axis, value := range p.Values {
			lines = append(lines, "value."+axis+"="+value)
		}
		for axis, names := range p.Spellings() {
			if names[0] != axis {
				lines = append(lines, "called."+axis+"="+names[0])
			}
		}
		for axis, text := range p.WrittenTexts() {
			lines = append(lines, "written."+axis+"="+text)
		}
	}
	if p.Fault != "" {
		lines = append(lines, "fault="+p.Fault)
	}
	for _, setting := range p.Fixed {
		if setting != "timeouts" {
			lines = append(lines, "fixed="+setting)
		}
	}
	slices.Sort(lines)
	return hashOf([]byte(jsonList(lines)))
}

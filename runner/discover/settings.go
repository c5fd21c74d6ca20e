package discover

import (
	"bytes"
	"fmt"
	"io/fs"

	"go.yaml.in/yaml/v4"
)

// Settings reads the file with the settings of a benchmark. Keys that are not texts are refused, because JSON does not have them.
func Settings(tree fs.FS, b *Benchmark) (map[string]any, error) {
	if b.Config == "" {
		return map[string]any{}, nil
	}
	text, err := readText(tree, b.Config, &bytes.Buffer{})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", b.Config, err)
	}
	var said any
	if err := yaml.Unmarshal([]byte(text), &said); err != nil {
		return nil, fmt.Errorf("reading %s: %w", b.Config, err)
	}
	if said == nil {
		return map[string]any{}, nil
	}
	settings, is := said.(map[string]any)
	if !is {
		return nil, fmt.Errorf("reading %s: want keys with values", b.Config)
	}
	if !texts(said) {
		return nil, fmt.Errorf("reading %s: a key is not text", b.Config)
	}
	return settings, nil
}

// texts reports whether all keys of maps in a value are texts.
func texts(value any) bool {
	switch v := value.(type) {
	case map[any]any:
		return false
	case map[string]any:
		for _, inner := range v {
			if !texts(inner) {
				return false
			}
		}
	case []any:
		for _, inner := range v {
			if !texts(inner) {
				return false
			}
		}
	}
	return true
}

package formats

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v4"
)

// LineError is an error in a mapping at a line, from 1.
type LineError struct {
	Line int
	Err  error
}

// Error returns the line and the cause.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// checkShape refuses metrics that are no maps, which YAML would refuse with the names of Go's types.
func checkShape(text []byte) error {
	var document yaml.Node
	if err := yaml.Load(text, &document); err != nil {
		return lineOf(err)
	}
	root := &document
	if root.Kind == yaml.DocumentNode && len(root.Content) > 0 {
		root = root.Content[0]
	}
	for path, metrics := range map[string]*yaml.Node{"metrics": member(root, "metrics"), "long.names": member(member(root, "long"), "names")} {
		if metrics == nil || metrics.Kind != yaml.MappingNode {
			continue
		}
		for i := 0; i+1 < len(metrics.Content); i += 2 {
			if name, metric := metrics.Content[i], metrics.Content[i+1]; metric.Kind == yaml.ScalarNode {
				return &LineError{metric.Line, fmt.Errorf("%s.%s: want a map such as {metric: latency, unit: us}", path, name.Value)}
			}
		}
	}
	return nil
}

// member is the value of a key in a map; nil if there is none.
func member(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// lineOf is an error of YAML with its line, if it has one.
func lineOf(err error) error {
	if all, is := errors.AsType[*yaml.LoadErrors](err); is && len(all.Errors) > 0 {
		err = all.Errors[0]
	}
	if detail, is := errors.AsType[*yaml.LoadError](err); is && detail.Mark.Line > 0 {
		return &LineError{detail.Mark.Line, errors.New(detail.Message)}
	}
	return err
}

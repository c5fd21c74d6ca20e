package output

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"

	"github.com/itchyny/gojq"
)

// eachValue passes each number that a jq program finds in an output to found, as text, until found wants no more.
func eachValue(ctx context.Context, output io.Reader, program *gojq.Code, found func(text []byte) (more bool, err error)) error {
	values := json.NewDecoder(bufio.NewReader(output))
	values.UseNumber()
	for {
		var value any
		switch err := values.Decode(&value); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("invalid JSON at byte %d: %w", values.InputOffset(), err)
		}
		results := program.RunWithContext(ctx, value)
		for {
			result, ok := results.Next()
			if !ok {
				break
			}
			if halt, is := result.(*gojq.HaltError); is && halt.Value() == nil {
				return nil
			}
			text, err := textOf(result)
			if err != nil {
				return err
			}
			if text == "" {
				continue
			}
			if more, err := found([]byte(text)); err != nil || !more {
				return err
			}
		}
	}
}

// textOf is what a program gave as the text of a number; empty for null.
func textOf(result any) (string, error) {
	switch v := result.(type) {
	case nil:
		return "", nil
	case error:
		return "", fmt.Errorf("jq: %w", v)
	case int:
		return strconv.Itoa(v), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	case *big.Int:
		return v.String(), nil
	case json.Number:
		return v.String(), nil
	case string:
		if v == "" {
			return " ", nil // which is no number
		}
		return v, nil
	case []any:
		return "", fmt.Errorf("jq gives an array: want numbers; add [] at the end to get them one by one")
	}
	return "", fmt.Errorf("jq gives %s: want a number", gojq.Preview(result))
}

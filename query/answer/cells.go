package answer

import "math"

// Text returns a cell; NULL for an empty text.
func Text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// Positive returns a cell; NULL for a number that is not positive.
func Positive(n int) any {
	if n <= 0 {
		return nil
	}
	return int64(n)
}

// Integer returns a cell; NULL for nil.
func Integer(n *int64) any {
	if n == nil {
		return nil
	}
	return *n
}

// Real returns a cell; NULL for a number that is not finite.
func Real(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}

// Reals returns a cell, which shares the memory of values; NULL for nil.
func Reals(values []float64) any {
	if values == nil {
		return nil
	}
	return values
}

// Map returns a cell; NULL for nil.
func Map(m map[string]any) any {
	if m == nil {
		return nil
	}
	return m
}

// Texts returns a cell; NULL for nil.
func Texts(m map[string]string) any {
	if m == nil {
		return nil
	}
	cell := make(map[string]any, len(m))
	for key, value := range m {
		cell[key] = value
	}
	return cell
}

// List returns a cell; NULL for nil.
func List(texts []string) any {
	if texts == nil {
		return nil
	}
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}

package schema

import "testing"

// TestCanonicalText: numbers, lists and maps that are written without quotes; all else is text.
func TestCanonicalText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1e3": "1000", "01": "01", "fp16": "fp16", "": "", `{"b": 1.0, "a": [9007199254740993]}`: `{"a":[9007199254740993],"b":1}`,
		"[1, 2": "[1, 2", "[1] 2": "[1] 2", "[1e400]": "[1e400]", `"1"`: `"1"`,
	} {
		if got := CanonicalText(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

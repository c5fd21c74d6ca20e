package sweep

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// withDeadlines returns the keys of the table with those of timeouts.
func withDeadlines() []Key {
	all := Keys()
	for _, k := range deadlines {
		k.Name = "timeouts." + k.Name
		all = append(all, k)
	}
	return all
}

// TestKeys: every key is there once, and says what it does in a sentence.
func TestKeys(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range withDeadlines() {
		if seen[k.Name] || !strings.HasSuffix(k.Doc, ".") || strings.ToUpper(k.Doc[:1]) != k.Doc[:1] && !strings.HasPrefix(k.Doc, "axis=") {
			t.Errorf("key %s: there twice, or its text is no sentence: %q", k.Name, k.Doc)
		}
		seen[k.Name] = true
		if k.Stored && k.point == nil && k.text == nil {
			t.Errorf("key %s: nothing tells what is stored of it", k.Name)
		}
	}
}

// TestWorkerIsOfKeys: all that a worker is told of settings is the value of a key, under its name.
func TestWorkerIsOfKeys(t *testing.T) {
	var p Point
	at := map[uintptr]string{}
	for _, k := range keys {
		if k.point != nil {
			at[reflect.ValueOf(k.point(&p)).Pointer()] = k.Name
		}
	}
	told := reflect.ValueOf(&p.Worker).Elem()
	for i := range told.NumField() {
		name, _, _ := strings.Cut(told.Type().Field(i).Tag.Get("json"), ",")
		key := at[told.Field(i).Addr().Pointer()]
		if key == "" || key != strings.TrimSuffix(name, "_ns") {
			t.Errorf("a worker is told %s, which is the value of key %q", name, key)
		}
	}
}

// TestDefaults: a sweep that gives a key the default in the table is the same as one without.
func TestDefaults(t *testing.T) {
	checked := 0
	for _, k := range withDeadlines() {
		if k.Default == "" {
			continue
		}
		checked++
		base := "file: b.py\ngrid: {k: [1, 2]}\n"
		if k.Name == "min_run_time" {
			base += "timing: torch_timer\n"
		}
		given := fmt.Sprintf("%s: %s\n", k.Name, k.Default)
		if deadline, is := strings.CutPrefix(k.Name, "timeouts."); is {
			given = fmt.Sprintf("timeouts: {%s: %s}\n", deadline, k.Default)
		}
		without, with := parse(t, base, Overrides{}), parse(t, base+given, Overrides{})
		with.SHA256 = without.SHA256
		for i := range with.Points { // which say that it is given
			with.Points[i].Origins = without.Points[i].Origins
		}
		equal(t, with, without)
	}
	if checked < 12 {
		t.Errorf("%d keys have a default", checked)
	}
}

// TestStoredSettings: what is stored of a point is there by the name of its key, and only where it is given.
func TestStoredSettings(t *testing.T) {
	text := "file: b.py:F\ncwd: d\nwarmup: 2\nrel_error: 1%\nbudget: 3s\ntiming: triton\nseed: 0\nreproducible: true\ncold_start: true\n"
	equal(t, parse(t, text, Overrides{}).Points[0].Settings(), map[string]string{
		"file": "b.py", "cwd": "d", "warmup": "2", "rel_error": "0.01", "iterations": "1", "timing": "triton", "seed": "0",
		"reproducible": "true", "cold_start": "true",
	})
	equal(t, parse(t, "command: [a, b]", Overrides{}).Points[0].Settings(), map[string]string{
		"command": `["a","b"]`, "warmup": "1 per session", "budget": "300ms",
	})
	equal(t, parse(t, net+"flush_l2: true\niterations: 3", Overrides{}).Points[0].Settings()["flush_l2"], "true")
	for _, k := range keys {
		equal(t, IsStored(k.Name), k.Stored)
	}
}

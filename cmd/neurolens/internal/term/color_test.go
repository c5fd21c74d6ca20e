package term

import "testing"

// TestColored: the flag counts before the variables, NO_COLOR before what forces colour, and that before the terminal.
func TestColored(t *testing.T) {
	for _, c := range []struct {
		asked    string
		terminal bool
		environ  map[string]string
		want     bool
	}{
		{"", true, nil, true},
		{"auto", true, nil, true},
		{"", false, nil, false},
		{"always", false, map[string]string{"NO_COLOR": "1"}, true},
		{"never", true, map[string]string{"FORCE_COLOR": "1"}, false},
		{"", true, map[string]string{"NO_COLOR": "1"}, false},
		{"", true, map[string]string{"NO_COLOR": ""}, true},
		{"auto", true, map[string]string{"NO_COLOR": "1", "FORCE_COLOR": "1", "CLICOLOR_FORCE": "1"}, false},
		{"", false, map[string]string{"FORCE_COLOR": "1"}, true},
		{"", false, map[string]string{"FORCE_COLOR": "0"}, false},
		{"", false, map[string]string{"CLICOLOR_FORCE": "1", "CLICOLOR": "0"}, true},
		{"", true, map[string]string{"CLICOLOR": "0"}, false},
		{"", false, map[string]string{"CLICOLOR": "1"}, false},
		{"", true, map[string]string{"TERM": "dumb"}, false},
	} {
		if got := Colored(c.asked, c.terminal, func(name string) string { return c.environ[name] }); got != c.want {
			t.Errorf("--color %q, terminal %v, %v: got %v", c.asked, c.terminal, c.environ, got)
		}
	}
	for value, ok := range map[string]bool{"": true, "auto": true, "always": true, "never": true, "yes": false} {
		if err := CheckColor("--color", value); (err == nil) != ok {
			t.Errorf("--color %q: %v", value, err)
		}
	}
}

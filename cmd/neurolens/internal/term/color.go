package term

import (
	"fmt"
	"slices"
)

// colors are the values of --color.
var colors = []string{"auto", "always", "never"}

// CheckColor refuses what is no value of --color; source is what it was said by.
func CheckColor(source, value string) error {
	if value != "" && !slices.Contains(colors, value) {
		return fmt.Errorf("%s %q: want auto, always or never", source, value)
	}
	return nil
}

// Colored tells whether there is colour on a stream. asked is the value of --color; without one, or with auto, the variables that other
// programs know decide, those first that switch it off, and then whether the stream is a terminal.
func Colored(asked string, isTerminal bool, getenv func(string) string) bool {
	on := func(name string) bool { value := getenv(name); return value != "" && value != "0" }
	switch {
	case asked == "always":
		return true
	case asked == "never", getenv("NO_COLOR") != "":
		return false
	case on("FORCE_COLOR"), on("CLICOLOR_FORCE"):
		return true
	case getenv("CLICOLOR") == "0", getenv("TERM") == "dumb":
		return false
	}
	return isTerminal
}

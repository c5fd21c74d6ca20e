package worktree

import (
	"context"
	"path/filepath"
	"strings"
)

// config returns the configuration of a clone: the settings of the repository without those that bind it to its place or run hooks.
func (r repo) config(ctx context.Context, side repo) (string, error) {
	says, err := r.metadata(ctx, "config", "--list", "-z", "--show-scope")
	if err != nil {
		return "", err
	}
	var text strings.Builder
	parts := fields(says) // scope NUL key LF value NUL ...; no LF where the value is left out
	for i := 0; i+1 < len(parts); i += 2 {
		key, value, valued := strings.Cut(parts[i+1], "\n")
		section, name, subsection, ok := splitKey(key)
		if scope := parts[i]; !ok || scope != "local" && scope != "worktree" || !copied(section, name) {
			continue
		}
		text.WriteString("[" + section)
		if subsection != "" {
			text.WriteString(" " + quoted(subsection))
		}
		text.WriteString("]\n\t" + name)
		if valued {
			text.WriteString(" = " + quoted(value))
		}
		text.WriteString("\n")
	}
	text.WriteString("[core]\n\tbare = false\n")
	if link := filepath.Join(side.top, ".git"); side.dir != link {
		tree, err := filepath.Rel(side.dir, side.top)
		if err != nil {
			return "", err
		}
		text.WriteString("\tworktree = " + quoted(tree) + "\n")
	}
	return text.String(), nil
}

// splitKey splits section.subsection.name, of which the subsection may be missing and may have dots.
func splitKey(key string) (section, name, subsection string, ok bool) {
	section, rest, ok := strings.Cut(key, ".")
	name = rest
	if i := strings.LastIndexByte(rest, '.'); i >= 0 {
		subsection, name = rest[:i], rest[i+1:]
	}
	return section, name, subsection, ok
}

// copied reports whether a setting is for a clone too. Extensions say how a repository keeps its files, and those of a clone are written
// here; included files are in the list with their settings.
func copied(section, name string) bool {
	switch section {
	case "include", "includeif":
		return false
	case "extensions":
		return name == "objectformat"
	case "core":
		return name != "worktree" && name != "bare" && name != "hookspath" && name != "fsmonitor"
	}
	return true
}

// quoted is a text in the quotes of git: of its configuration, and of object directories in its environment.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}

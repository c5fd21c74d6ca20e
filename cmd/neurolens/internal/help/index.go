package help

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/docs"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/runner"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// topic is a page that help shows: its name, its file, the group it is listed in, and a sentence about it.
type topic struct{ name, file, group, about string }

// A row of the index of docs, and the heading of a table of rows.
var (
	indexRow   = regexp.MustCompile(`^\| \[([^\]]+)\]\(([^)]+)\) \| (.*) \|$`)
	indexGroup = regexp.MustCompile(`^\| ([^\[|]+) \| \|$`)
)

// besides are the pages that are beside the code of what they explain, in upper case: COLUMNS.md is the topic columns.
func besides() map[string]string {
	return map[string]string{"columns": query.ColumnsPage, "stored": runner.StoredPage}
}

// topics are the pages that the index of docs lists and the program has, in its order.
func topics() ([]topic, error) {
	index, err := docs.Pages.ReadFile("README.md")
	if err != nil {
		return nil, err
	}
	var all []topic
	group := ""
	for line := range strings.Lines(string(index)) {
		line = strings.TrimSuffix(line, "\n")
		if m := indexGroup.FindStringSubmatch(line); m != nil {
			group = m[1]
		}
		m := indexRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := strings.ToLower(strings.TrimSuffix(path.Base(m[2]), ".md"))
		if _, beside := besides()[name]; beside || !strings.Contains(m[2], "/") {
			all = append(all, topic{name, m[2], group, inline(m[3])})
		}
	}
	return all, nil
}

// text is the page of a topic.
func (t topic) text() (string, error) {
	if page, beside := besides()[t.name]; beside {
		return page, nil
	}
	page, err := docs.Pages.ReadFile(t.file)
	return string(page), err
}

// alsoCalled are the topics by other words that one looks for.
var alsoCalled = map[string]string{
	"sweep": "sweeps", "filter": "filters", "privacy": "stored", "redact": "stored", "sharing": "stores", "backup": "stores", "sealing": "stores", "views": "sql",
}

// named finds a topic by its name, in any case, or by another word for it.
func named(all []topic, name string) (topic, bool) {
	name = strings.ToLower(name)
	name = cmp.Or(alsoCalled[name], name)
	at := slices.IndexFunc(all, func(t topic) bool { return t.name == name })
	if at < 0 {
		return topic{}, false
	}
	return all[at], true
}

// topicNames are the names of the topics.
func topicNames() []string {
	all, err := topics()
	if err != nil {
		return nil
	}
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.name
	}
	return names
}

// topicList lists the topics by group, for help on a terminal of so many columns.
func topicList(all []topic, width int) string {
	var b strings.Builder
	group, nameWidth := "", 0
	for _, t := range all {
		nameWidth = max(nameWidth, len(t.name))
	}
	for _, t := range all {
		if t.group != group {
			fmt.Fprintf(&b, "\nTopics, %s:\n", t.group)
			group = t.group
		}
		for i, line := range term.Wrapped(t.about, width-nameWidth-4) {
			name := ""
			if i == 0 {
				name = t.name
			}
			fmt.Fprintf(&b, "  %-*s  %s\n", nameWidth, name, line)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

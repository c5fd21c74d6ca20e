//go:build linux

package main

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// pageBlock is a block of code of a page.
type pageBlock struct {
	line   int // the first of it, from 1
	kind   blockKind
	name   string // of a file
	notRun string // why it is not run
	needs  string // a module of Python, without which it is not run
	exits  string // statuses that are answers here, beside 0, as 1 or 3
	text   string
}

// blockKind says what a block of code is.
type blockKind int

const (
	otherBlock   blockKind = iota
	fileBlock              // a file that the page makes
	consoleBlock           // commands with what they print
	shellBlock             // commands
	toolsBlock             // commands of other programs alone, which no test has
)

// runs tells whether a block is run.
func (b pageBlock) runs() bool {
	return b.notRun == "" && (b.kind == consoleBlock || b.kind == shellBlock)
}

var (
	marked   = regexp.MustCompile(`^<!-- (not run|needs|exits ([134](?: or [134])*)): (.+) -->$`)
	calls    = regexp.MustCompile(`(?m)^neurolens `)
	tools    = regexp.MustCompile(`^(?:[A-Z_]+=\S+ )?(?:\./neurolens|cd|curl|docker|export|git|go|jupyter|man|npm|pip|podman|python3?|rm|sudo|tar|trino|uv|uvx) `)
	fileName = regexp.MustCompile(`^# ([\w./-]+\.(?:yaml|yml|py|json|txt|csv|sh))(?::|$)`)
)

// blocksOf returns the blocks of code of a page. A comment above a block says why it is not run, `<!-- not run: REASON -->`, or what it
// needs beside the program, `<!-- needs: MODULE -->` of Python, or with which exit statuses commands may end, `<!-- exits 1 or 3: REASON -->`.
func blocksOf(page string) (blocks []pageBlock, err error) {
	lines := strings.Split(page, "\n")
	var above *pageBlock // what comments say of the next block
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		var b pageBlock
		switch {
		case strings.HasPrefix(line, "<!-- not run"), strings.HasPrefix(line, "<!-- needs"), strings.HasPrefix(line, "<!-- exits"):
			if above, err = above.with(line); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			continue
		case strings.HasPrefix(line, "```"):
			end := i + 1
			for end < len(lines) && lines[end] != "```" {
				end++
			}
			if end == len(lines) {
				return nil, fmt.Errorf("line %d: the block does not end", i+1)
			}
			b = newBlock(strings.TrimPrefix(line, "```"), lines[i+1:end])
			b.line, i = i+1, end
		case strings.HasPrefix(line, "    ") && (i == 0 || strings.TrimSpace(lines[i-1]) == "" || strings.HasPrefix(lines[i-1], "<!--")):
			end := i // blank lines belong to it where it goes on
			for at := i; at < len(lines) && (strings.HasPrefix(lines[at], "    ") || lines[at] == ""); at++ {
				if lines[at] != "" {
					lines[at], end = lines[at][4:], at+1
				}
			}
			b = newBlock("", lines[i:end])
			b.line, i = i+1, end-1
		case above != nil && strings.TrimSpace(line) != "":
			return nil, fmt.Errorf("line %d: the comment above is about a block, and there is none: %s", i+1, line)
		default:
			continue
		}
		if above != nil {
			b.notRun, b.needs, b.exits = above.notRun, above.needs, above.exits
		}
		above = nil
		blocks = append(blocks, b)
	}
	if above != nil {
		return nil, fmt.Errorf("the last comment is about a block, and there is none: %+v", *above)
	}
	return blocks, nil
}

// with returns what comments above a block say after one more of them; b is nil before the first. A block that is not run has no other
// comment.
func (b *pageBlock) with(comment string) (*pageBlock, error) {
	found := marked.FindStringSubmatch(comment)
	if found == nil {
		return nil, fmt.Errorf("want <!-- not run: REASON -->, <!-- needs: MODULE --> or <!-- exits 1 or 3: REASON --> above a block, got %s", comment)
	}
	var more pageBlock
	if b != nil {
		more = *b
	}
	switch found[1] {
	case "not run":
		more.notRun = found[3]
	case "needs":
		more.needs = found[3]
	default:
		more.exits = found[2]
	}
	if b != nil && (b.notRun != "" || more.notRun != "" || more == *b) {
		return nil, fmt.Errorf("the comments above a block contradict each other: %s", comment)
	}
	return &more, nil
}

// newBlock tells what a block of code is by its language and its first line.
func newBlock(language string, lines []string) pageBlock {
	b := pageBlock{text: strings.Join(lines, "\n") + "\n"}
	file := fileName.FindStringSubmatch(b.text[:strings.Index(b.text, "\n")])
	switch {
	case language == "console" || strings.HasPrefix(b.text, "$ "):
		b.kind = consoleBlock
	case file != nil:
		b.kind, b.name = fileBlock, path.Clean(file[1])
	case (language == "sh" || language == "") && calls.MatchString(b.text) && !strings.Contains(b.text, " [flags]\n"): // which is usage
		b.kind = shellBlock
	case language == "sh" || language == "" && tools.MatchString(b.text):
		b.kind = toolsBlock
	}
	return b
}

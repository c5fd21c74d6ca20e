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
	text   string
}

// blockKind says what a block of code is.
type blockKind int

const (
	otherBlock   blockKind = iota
	fileBlock              // a file that the page makes
	consoleBlock           // commands with what they print
	shellBlock             // commands
)

// runs tells whether a block is run.
func (b pageBlock) runs() bool {
	return b.notRun == "" && (b.kind == consoleBlock || b.kind == shellBlock)
}

var (
	marked   = regexp.MustCompile(`^<!-- (not run|needs): (.+) -->$`)
	calls    = regexp.MustCompile(`(?m)^neurolens `)
	fileName = regexp.MustCompile(`^# ([\w./-]+\.(?:yaml|yml|py|json|txt|csv|sh))(?::|$)`)
)

// blocksOf are the blocks of code of a page. A comment above a block says why it is not run, `<!-- not run: REASON -->`, or what it
// needs beside the program, `<!-- needs: MODULE -->` of Python.
func blocksOf(page string) (blocks []pageBlock, err error) {
	lines := strings.Split(page, "\n")
	var marker []string
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		var b pageBlock
		switch {
		case strings.HasPrefix(line, "<!-- not run"), strings.HasPrefix(line, "<!-- needs"):
			found := marked.FindStringSubmatch(line)
			if found == nil || marker != nil {
				return nil, fmt.Errorf("line %d: want <!-- not run: REASON --> or <!-- needs: MODULE --> above a block, got %s", i+1, line)
			}
			marker = found[1:]
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
		case marker != nil && strings.TrimSpace(line) != "":
			return nil, fmt.Errorf("line %d: the comment above is about a block, and there is none: %s", i+1, line)
		default:
			continue
		}
		if marker != nil && marker[0] == "needs" {
			b.needs = marker[1]
		} else if marker != nil {
			b.notRun = marker[1]
		}
		marker = nil
		blocks = append(blocks, b)
	}
	if marker != nil {
		return nil, fmt.Errorf("the last comment is about a block, and there is none: %s", marker[1])
	}
	return blocks, nil
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
	}
	return b
}

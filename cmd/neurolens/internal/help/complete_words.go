package help

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// nothing is offered where people type what only they know; and no names of files.
func nothing(request) ([]cobra.Completion, cobra.ShellCompDirective) { return nil, done }

// files are offered by the shell itself.
func files(request) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// folders are, too.
func folders(request) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// ending are files with these endings.
func ending(endings ...string) offer {
	return func(request) ([]cobra.Completion, cobra.ShellCompDirective) {
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

// completionWords are always the same.
func completionWords(all ...cobra.Completion) offer {
	return func(request) ([]cobra.Completion, cobra.ShellCompDirective) { return all, done }
}

// one is one of some words.
func one(all func(r request) []cobra.Completion) offer {
	return func(r request) ([]cobra.Completion, cobra.ShellCompDirective) { return all(r), done }
}

// list is a list of words with commas between them, each once.
func list(all func(r request) []cobra.Completion) offer {
	return func(r request) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := r.typed[:strings.LastIndex(r.typed, ",")+1]
		there := strings.Split(before, ",")
		var left []cobra.Completion
		for _, word := range all(r) {
			if !slices.Contains(there, wordOf(word)) {
				left = append(left, before+word)
			}
		}
		return left, open
	}
}

// fixed are the same words whatever the line.
func fixed(all ...cobra.Completion) func(request) []cobra.Completion {
	return func(request) []cobra.Completion { return all }
}

// wordOf is a completion without its description.
func wordOf(c cobra.Completion) string {
	word, _, _ := strings.Cut(c, "\t")
	return word
}

// described is a word with what a shell says beside it: the first sentence.
func described(word, text string) cobra.Completion {
	text, _, _ = strings.Cut(text, "; ")
	text, _, _ = strings.Cut(text, ". ")
	return cobra.CompletionWithDesc(word, strings.TrimSuffix(printed(text), "."))
}

// printed is a text without what steers a terminal or means something to the scripts of the shells.
func printed(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '`':
			return -1
		case !unicode.IsPrint(r):
			return ' '
		}
		return r
	}, text)
}

// beginning are the words that begin as what was typed, without those that a line of a terminal cannot hold.
func beginning(all []cobra.Completion, typed string) []cobra.Completion {
	var left []cobra.Completion
	for _, c := range all {
		word := wordOf(c)
		unprintable := strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) })
		if strings.HasPrefix(word, typed) && word != "" && utf8.ValidString(word) && !unprintable {
			left = append(left, c)
		}
	}
	return left
}

// Package lazyregexp wraps the regular expressions of package regexp and compiles each at its first use. The program has nearly three
// hundred of them in package variables. Compiling a quarter of these at every start took a seventh of the time of a command that needs
// none.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp is a regular expression. Its methods call the methods of regexp.Regexp with the same names.
type Regexp struct {
	compiled func() *regexp.Regexp
}

// MustCompile takes an expression. If it is invalid, the first use panics, as in any test.
func MustCompile(text string) *Regexp {
	r := &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
	if strings.HasSuffix(os.Args[0], ".test") {
		r.compiled()
	}
	return r
}

// Match calls the method of regexp.Regexp.
func (r *Regexp) Match(b []byte) bool { return r.compiled().Match(b) }

// MatchString calls the method of regexp.Regexp.
func (r *Regexp) MatchString(s string) bool { return r.compiled().MatchString(s) }

// Find calls the method of regexp.Regexp.
func (r *Regexp) Find(b []byte) []byte { return r.compiled().Find(b) }

// FindString calls the method of regexp.Regexp.
func (r *Regexp) FindString(s string) string { return r.compiled().FindString(s) }

// FindIndex calls the method of regexp.Regexp.
func (r *Regexp) FindIndex(b []byte) []int { return r.compiled().FindIndex(b) }

// FindSubmatchIndex calls the method of regexp.Regexp.
func (r *Regexp) FindSubmatchIndex(b []byte) []int { return r.compiled().FindSubmatchIndex(b) }

// FindStringSubmatch calls the method of regexp.Regexp.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

// FindStringSubmatchIndex calls the method of regexp.Regexp.
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compiled().FindStringSubmatchIndex(s)
}

// FindAllString calls the method of regexp.Regexp.
func (r *Regexp) FindAllString(s string, n int) []string { return r.compiled().FindAllString(s, n) }

// FindAllStringSubmatch calls the method of regexp.Regexp.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex calls the method of regexp.Regexp.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringSubmatchIndex(s, n)
}

// FindAllStringIndex calls the method of regexp.Regexp.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringIndex(s, n)
}

// ReplaceAll calls the method of regexp.Regexp.
func (r *Regexp) ReplaceAll(src, repl []byte) []byte { return r.compiled().ReplaceAll(src, repl) }

// ReplaceAllString calls the method of regexp.Regexp.
func (r *Regexp) ReplaceAllString(src, repl string) string {
	return r.compiled().ReplaceAllString(src, repl)
}

// ReplaceAllStringFunc calls the method of regexp.Regexp.
func (r *Regexp) ReplaceAllStringFunc(src string, repl func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(src, repl)
}

// Split calls the method of regexp.Regexp.
func (r *Regexp) Split(s string, n int) []string { return r.compiled().Split(s, n) }

// String calls the method of regexp.Regexp.
func (r *Regexp) String() string { return r.compiled().String() }

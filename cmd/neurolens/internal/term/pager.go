package term

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// Pager stands between a command and a terminal. Text that fits the screen goes there as it is; longer text is read through another
// program. A nil Pager shows nothing: standard output is no terminal.
type Pager struct {
	stdout, stderr *os.File
	screen         func() (columns, rows int)

	mu      sync.Mutex
	program []string      // what shows long text; nil: all text goes to the terminal at once
	held    bytes.Buffer  // text that has not filled the screen yet
	said    bytes.Buffer  // what standard error gets after the text
	text    *os.File      // what the pager reads; nil while there is none
	over    chan struct{} // closed when the pager has ended
	left    bool          // it ended before it had all of the text
}

// NewPager gives the pager of a terminal. screen says how large it is.
func NewPager(stdout, stderr *os.File, screen func() (columns, rows int)) *Pager {
	return &Pager{stdout: stdout, stderr: stderr, screen: screen}
}

// Begin has the answer of a command shown through the pager of the user, if it is a command with answers. lookup reads variables of
// the environment, and nothing else: the file of a project may be anybody's, and must not start programs.
func (p *Pager) Begin(cmd *cobra.Command, lookup func(string) (string, bool)) {
	if p != nil && wanted(cmd) {
		p.program = programOf(lookup)
	}
}

// Write takes text for standard output.
func (p *Pager) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.program == nil:
		return p.stdout.Write(b)
	case p.text != nil:
		return p.pass(b, len(b))
	}
	columns, rows := p.screen()
	p.held.Write(b)
	if rowsOf(p.held.Bytes(), columns) < rows {
		return len(b), nil
	}
	if err := p.start(); err != nil { // there is no such program: the terminal has it all
		p.program = nil
		_, err := p.held.WriteTo(p.stdout)
		return len(b), err
	}
	defer p.held.Reset()
	return p.pass(p.held.Bytes(), len(b))
}

// pass gives text to the pager; count is how much of it is new. Whoever leaves it before the end of a text has seen what he wanted
// to see: the command finishes what it has written already, and only then learns that nobody reads on.
func (p *Pager) pass(text []byte, count int) (int, error) {
	_, err := p.text.Write(text)
	if errors.Is(err, syscall.EPIPE) && !p.left {
		p.left, err = true, nil
	}
	if err != nil {
		return 0, err
	}
	return count, nil
}

// start starts the pager.
func (p *Pager) start() error {
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command(p.program[0], p.program[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = read, p.stdout, p.stderr
	cmd.Env = environ(os.Environ())
	modes, _ := term.GetState(int(p.stdout.Fd())) // which a pager changes, and gives back unless it is killed
	if err := cmd.Start(); err != nil {
		return errors.Join(err, read.Close(), write.Close())
	}
	_ = read.Close() // the pager has its own
	p.text, p.over = write, make(chan struct{})
	go func() {
		defer close(p.over)
		_ = cmd.Wait() // how it ends is between the user and the pager
		if status, is := cmd.ProcessState.Sys().(syscall.WaitStatus); is && status.Signaled() && modes != nil {
			_ = term.Restore(int(p.stdout.Fd()), modes) // nobody else would: the shell takes them for what we want
		}
	}()
	return nil
}

// Left reports whether the user left the pager before the end of the text, which is no error.
func (p *Pager) Left() bool { return p != nil && p.left }

// Wait waits for the end of a pager that shows something.
func (p *Pager) Wait() {
	if p == nil {
		return
	}
	p.mu.Lock()
	over := p.over
	p.mu.Unlock()
	if over != nil {
		<-over
	}
}

// Close is called when the command is over. It shows what was held back, and waits until the user has left the pager: until then
// Ctrl-C is for the pager alone.
func (p *Pager) Close() error {
	if p == nil {
		return nil
	}
	if p.text != nil {
		signal.Ignore(syscall.SIGINT)
		_ = p.text.Close() // the pager has all of it
		p.Wait()
		p.text = nil
	}
	_, err := p.held.WriteTo(p.stdout)
	_, said := p.said.WriteTo(p.stderr)
	p.program = nil
	return errors.Join(err, said)
}

// Stderr is standard error on the same terminal. A message that came while the pager may still be shown would be lost between its
// pages, so it comes after them.
func (p *Pager) Stderr() io.Writer { return after{p} }

type after struct{ p *Pager }

func (a after) Write(b []byte) (int, error) {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	if a.p.text == nil && a.p.held.Len() == 0 {
		return a.p.stderr.Write(b)
	}
	return a.p.said.Write(b)
}

// rowsOf returns the number of rows of a terminal that a text takes.
func rowsOf(text []byte, columns int) int {
	rows := 0
	for line := range bytes.Lines(text) {
		rows += max(utf8.RuneCount(line)-2, 0)/columns + 1
	}
	return rows
}

// answers are the commands whose output is read through a pager. The others show progress, or change something and say so.
var answers = []string{
	"compare", "config", "discover", "doctor", "env", "explain", "export", "help", "history", "ls", "query", "report", "show", "store info", "store views", "tune",
}

// wanted tells whether a pager shows the answer of a command. A gate is for scripts, as git diff --exit-code is.
func wanted(cmd *cobra.Command) bool {
	if without, err := cmd.Flags().GetBool("no-pager"); err != nil || without || cmd.Flags().Changed("gate") {
		return false
	}
	name := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	return slices.Contains(answers, name) || strings.HasPrefix(name, "plot ")
}

// Variables are those that name the pager, the first that is set.
const (
	ownVariable    = "NEUROLENS_PAGER"
	commonVariable = "PAGER"
	usual          = "less"
)

// programOf returns the command line of the pager that a user wants; nil: none.
func programOf(lookup func(string) (string, bool)) []string {
	if kind, _ := lookup("TERM"); kind == "" || kind == "dumb" {
		return nil // pagers complain about such a terminal, and wait
	}
	text, set := lookup(ownVariable)
	if !set {
		text, set = lookup(commonVariable)
	}
	if !set {
		text = usual
	}
	words := strings.Fields(text)
	switch {
	case len(words) == 0 || len(words) == 1 && words[0] == "cat":
		return nil
	case plain.MatchString(text):
		if _, err := exec.LookPath(words[0]); err != nil {
			return nil
		}
		return words
	}
	return []string{"sh", "-c", text} // as git and man do
}

// plain matches a text that a shell only splits into words.
var plain = regexp.MustCompile(`^[\w\s./:=+,@%-]*$`)

// environ returns the environment of a pager: less ends at once where the text fits, keeps colours, and leaves the text on the screen; lv
// keeps colours.
func environ(own []string) []string {
	for _, setting := range []string{"LESS=FRX", "LV=-c"} {
		name, _, _ := strings.Cut(setting, "=")
		if !slices.ContainsFunc(own, func(s string) bool { return strings.HasPrefix(s, name+"=") }) {
			own = append(own, setting)
		}
	}
	return own
}

package device

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
)

// longestOwner is the most bytes of a lock file that are read or written.
const longestOwner = 4096

// owner is the content of a lock file: the process that locked it. Anybody can write there, so it is only shown.
type owner struct {
	PID     int       `json:"pid"`
	Since   time.Time `json:"since"`
	Command string    `json:"command"`
}

// writeOwner notes that this process has locked file.
func writeOwner(file *os.File) error {
	words := append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...)
	text, err := json.Marshal(owner{
		PID: os.Getpid(), Since: time.Now().UTC().Truncate(time.Second), Command: shortened(strings.Join(words, " ")),
	})
	if err != nil {
		return err
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err = file.WriteAt(append(text, '\n'), 0)
	return err
}

// readOwner reads who locked a file. An unreadable owner file yields an unknown owner.
func readOwner(file *os.File) owner {
	text, err := io.ReadAll(io.NewSectionReader(file, 0, longestOwner))
	if err != nil {
		return owner{}
	}
	return parseOwner(text)
}

func parseOwner(text []byte) owner {
	var o owner
	if err := json.Unmarshal(text, &o); err != nil {
		return owner{}
	}
	o.Command = shortened(o.Command)
	return o
}

// String is the owner for people: pid 123 (neurolens bench x.yaml) since 11:02.
func (o owner) String() string {
	if o.PID <= 0 {
		return "another process"
	}
	text := fmt.Sprintf("pid %d", o.PID)
	if o.Command != "" {
		text += " (" + o.Command + ")"
	}
	if o.Since.IsZero() {
		return text
	}
	since, layout := o.Since.Local(), "15:04"
	if time.Since(since) > 12*time.Hour {
		layout = "2006-01-02 15:04"
	}
	return text + " since " + since.Format(layout)
}

// shortened is a command in one short line that cannot steer a terminal.
func shortened(command string) string {
	const maxLetters = 100
	letters := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, command))
	if len(letters) > maxLetters {
		return string(letters[:maxLetters-1]) + "…"
	}
	return string(letters)
}

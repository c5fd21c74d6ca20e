package term

import (
	"cmp"
	"io"
)

// Noting writes, and keeps the first error: cobra does not look at those of its help.
type Noting struct {
	To  io.Writer
	Err error
}

func (n *Noting) Write(b []byte) (int, error) {
	written, err := n.To.Write(b)
	n.Err = cmp.Or(n.Err, err)
	return written, err
}

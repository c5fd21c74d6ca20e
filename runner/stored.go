package runner

import _ "embed" // the page

// StoredPage is the page that says what is stored about a machine and a command.
//
//go:embed STORED.md
var StoredPage string

// Package docs holds these pages for the program, whose help topics they are.
package docs

import "embed"

// Pages are the pages of this folder.
//
//go:embed *.md
var Pages embed.FS

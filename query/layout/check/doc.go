// Package check tells whether files are of a layout, and what is wrong with them. It has a JSON Schema of each file of JSON that the layouts
// have (schemas), and the columns of their tables.
//
// A file is recognised by what stands in it. One that is damaged, or lacks what it would be recognised by, is recognised by its name,
// where others beside it are of that layout. What nothing recognises is left alone.
package check

// Package check detects which layout files have, and finds errors in them. It has a JSON Schema for each JSON file of the layouts
// (schemas), and the columns of their tables.
//
// A file is recognized by its content. If it is damaged or incomplete, it is recognized by its name, provided that other files beside it
// have that layout. Unrecognized files are not checked.
package check

// Package output prints results: one printer for all commands, in every format of --format. It also writes the files that
// commands create.
//
// A result is an answer.Table, whose columns have a name, a unit and a type. Formats for programs (plain, json, jsonl,
// csv) are made from it, with stored units, full ids, times in UTC and every row. Pages prints it in parts if it may not
// fit in memory. Formats for people (table, md) show a term.View, which the caller makes from the same result; TableView
// is the default one.
//
// NULL differs from an empty text in every format that allows it, and numbers can be read back. No stored text can control
// the terminal, or become a formula in a spreadsheet.
package output

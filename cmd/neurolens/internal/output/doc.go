// Package output prints answers: one printer for all commands, in every format of --format. It also writes the files that a command makes.
//
// An answer is an answer.Table, whose columns know their name, unit and type. Of it the formats for programs are made: plain, json,
// jsonl and csv, with stored units, full ids, times in UTC and every row; Pages writes it a part of its rows at a time, where it may
// be longer than what fits in memory. The formats for people, table and md, show a term.View, which whoever prints makes of the
// same answer; TableView is the one for answers that need no other.
//
// NULL is told from an empty text wherever a format can, numbers can be read back, and nothing that was stored steers the terminal
// that it is printed on, or is a formula to a spreadsheet.
package output

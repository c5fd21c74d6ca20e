// Package verdicts is what people see of decisions: of two sides that were compared, of what explains their difference, of the
// history of a metric.
//
// Its screens take the answers of query/compare, query/explain and query/history. Every number and verdict stands there already:
// here they get words, an order and columns. What was asked for is told as a plain struct, and the last line of a gate as a text,
// for the exit status in it is the command's.
package verdicts

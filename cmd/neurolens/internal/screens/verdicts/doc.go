// Package verdicts shows decisions: the comparison of two sides, what explains their difference, and the history of a
// metric.
//
// Its screens take the results of query/compare, query/compare and query/history, which have every number and verdict.
// Here they get words, an order and columns. The request is passed as a plain struct. The last line of a gate is passed as
// a text, because the command owns the exit status in it.
package verdicts

package scan

// SessionFromLast is sessionFromLast.
var SessionFromLast = (*Reader).sessionFromLast

// Package sealing makes sealed files of the live files of a store. Whoever seals takes whole segments into a claim, which
// is a rename, plans what becomes of their runs, writes the files, and links them into the store: each step can be done
// again, by anybody, wherever the one before was cut off. A finished claim is kept for those who still read its files,
// and then buried. No lock is held; what two processes begin at once, one of them finishes.
package sealing

// Package sealing turns live files of a store into sealed files. A sealer moves whole segments into a claim, by renaming
// them, plans where each run goes, writes the files, and links them into the store. If it is interrupted, any process can
// repeat its last step and continue. A finished claim is kept for readers that still have its files open, and then
// removed. No lock is held; if two processes begin the same work, one of them finishes it.
//
// A Packer copies the content of many small files, sealed runs or events, into one file, a pack, so that readers open few files. Nothing
// depends on packs, and removing them only costs time.
package sealing

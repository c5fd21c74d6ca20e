// Package runfile reads and writes the runs of a store: live files with one run, and sealed files, which are up to three files with
// runs, samples and ops. A Reader returns complete runs that match their hashes and digests. A Salvager returns the intact rows of
// damaged files. Writing makes one sealed file, which is complete and durable before it has a name that counts.
//
// Runs are processed one by one, in ascending order of their ids, so stores of any size take bounded memory.
package runfile

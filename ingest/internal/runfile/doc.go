// Package runfile reads and writes the runs of a store in their files: live files of one run, and sealed files, which are
// up to three, of runs, samples and ops. A reader gives whole runs, which match their hashes and digests, or a Salvager
// what damage left of them. What is written is one sealed file: whole and durable before it has a name that counts.
//
// Everything goes run by run, in ascending order of their ids, so that stores of any size take bounded memory.
package runfile

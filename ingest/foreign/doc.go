// Package foreign reads result files of other tools into runs. It cannot reach a store: whoever calls it stores what it
// yields.
//
// A Format is one kind of file. It is recognised by its content (Head), never by its name alone, and read as a stream
// (Input) into runs (Output). What every reader has to keep:
//
//   - A run is one launch of one point. Samples are raw values of the file in their order; a run without raw values
//     carries the file's aggregates in Summary, and no samples. None is ever made up.
//   - Times, sizes and rates become stored units (Series, Number); the unit of the file is kept as a fact.
//   - A zero or an empty value that means failure is a status and no value. NaN and infinity stay among samples.
//   - All that tells two results of a file apart is in the identity of their points: every axis is a parameter.
//   - What a record says that cannot be understood refuses that record (Output.Refuse), never the file.
//   - Facts are chosen one by one: no environment variable, prompt or generated text is taken over.
//
// # Identity
//
// A run_id is made of what was read, so that the same content gives the same id, whenever, by whatever name and from
// wherever it is read: the time when the run began, 40 bits of a hash over all records of the file before its own, and 40
// bits of the hash that goes on with its own. So
//
//   - a file that was read before, a copy of it or its beginning, of whatever name, zipped or through a pipe, adds nothing;
//   - a file that has grown at its end adds what is new, also where it was renamed meanwhile, as logs are;
//   - equal records of two files are two runs, as other records stand before them.
//
// Two files may begin with equal records, and then differ. The second of them shows that: what stands before its first
// other record is known, and goes on otherwise (the first half of ids tells which runs come after what). Then it is read
// again with the hash of that record as its seed, so that all of its runs are its own, and its session is. While it has not
// come to differ, nothing tells a file from one that grows: whoever is all of another's beginning is taken for it.
//
// A file that was read while it was written may have broken off in its last record. Where that has the same point as the
// record that now stands there, and fewer samples, the file has grown: the part of a record stays as it was read, and the
// report names it. Where it broke off otherwise (in a number, or in a line that says something of all records), nothing
// tells it from another file, and what it shares with the whole one is there twice.
//
// The name of a file counts for nothing, but where it alone says what was measured (operation-grid, triton-perf-report,
// trtexec-metadata): there a copy of another name is another benchmark. With it in the hash a log that was renamed when it
// was rotated, and has grown since it was read first, would be stored twice; and files in two folders are called alike more
// often than two files begin alike. What the ids are does not depend on what was read before, but of files that begin
// alike, of which the first to come has the ids without a seed. Within one store the order changes nothing but these ids.
// Two stores that took such files in another order have other ids for the same runs: merged into one, they double them. So
// import files that begin alike into one store, or merge before importing.
//
// Versions before made ids of a record and of how many of the same came before it in the file. A file that is known by
// these stays known by them, and so does its beginning where it is a log.
package foreign

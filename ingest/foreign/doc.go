// Package foreign reads result files of other tools into runs. It does not know stores: its callers store the runs.
//
// A Format is one kind of file. It is recognised by its content (Head), never by its name alone, and read as a stream
// (Input) into runs (Output). Every reader follows these rules:
//
//   - A run is one launch of one point. Samples are raw values of the file, in their order. A run without raw values has
//     the aggregates of the file in Summary, and no samples. No value is ever made up.
//   - Times, sizes and rates are converted to stored units (Series, Number). The unit of the file is kept as a fact.
//   - A zero or an empty value that means failure becomes a status, not a value. NaN and infinity stay among samples.
//   - Everything that distinguishes two results of a file is a part of their points: every axis is a parameter.
//   - A record that cannot be understood is refused by itself (Output.Refuse), never the whole file.
//   - Facts are chosen one by one. Environment variables, prompts and generated text are not imported.
//
// # Identity
//
// The id of a run is computed from the content of the file, so that the same content gives the same id, whenever, under
// whatever name and from wherever it is read. It has the time at which the run began, 40 bits of a hash over all records
// of the file before its own, and 40 bits of the hash that includes its own. So
//
//   - a file that was read before, or a copy of it, under any name, zipped or through a pipe, adds nothing;
//   - a file that has grown at its end adds only what is new, even if it was renamed in the meantime, as logs are when they are
//     rotated (stem);
//   - equal records of two files are two runs, because different records come before them;
//   - a file and one that begins with it are two files if their names are unrelated, as those of a file and of a concatenation are.
//
// Where the tool gave each record an id (Format.Keyed), no record counts as before another: a database from which records are deleted adds nothing.
//
// Two files may begin with equal records and then differ. The second of them is recognised at its first different record:
// the records before it are known, but continue differently (the first half of the ids says which runs follow others).
// The file is then read again, with the hash of that record as a seed, so that all its runs, and its session, are its
// own. Before the first difference, only the name distinguishes a file from one that grows: a file that equals the beginning
// of another with a related name is taken for it.
//
// A file that was read while it was being written may have been cut off in its last record. If that record has the same
// point as the record that is there now, and fewer samples, the file has grown: the cut-off record stays as it was read,
// and the report names it. If the file was cut off in another way (in a number, or in a line that applies to all
// records), it cannot be distinguished from another file, and the records that it shares with the complete file are
// stored twice.
//
// Apart from that, the name of a file does not matter, except where it alone says what was measured (operation-grid,
// triton-perf-report, trtexec-metadata): there, a copy under another name is another benchmark. If the name were a part of the hash, a log
// that was renamed by rotation, and has grown since it was read first, would be stored twice. And files in two folders
// have the same name more often than two files have the same beginning.
//
// Ids do not depend on what was read before, with one exception: among files with the same beginning, the first one gets
// the ids without a seed. Within one store, the order changes nothing but these ids. Two stores that imported such files
// in different orders have different ids for the same runs, and a merge doubles them. So import files with the same
// beginning into one store, or merge before importing.
//
// A version may read more of a record than earlier ones did, or read another start. The hash is of what they read (Output.RunWith), and a record
// is looked for with their start too. So a file that they have stored is known. Its runs stay as they were read.
//
// Earlier versions computed an id from a record and the number of equal records before it in the file. A file that is
// stored with such ids is still recognised by them, and so is its beginning if it is a log.
//
// # Start
//
// A start that the user gives (Start) is a part of the content: files with equal content and different starts are different
// measurements. If a file is stored without a start, or with another one that the user gave while it had the same name and was not
// changed since, its report names the runs that the new ones replace. The callers of this package remove them.
package foreign

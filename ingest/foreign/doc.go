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
// Ids are made of what was read: the same content gives the same run_id, whenever and from wherever it is read.
package foreign

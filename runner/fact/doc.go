// Package fact has the facts about a machine that expressions of sweep files may name: gpu.memory, os, cpu.count.
//
// A fact is a number, in bytes or bytes a second where it has a unit, or a text. One that is not known is NULL, with the
// reason that the environment has for it (absent, permission, unsupported, timeout). Facts are taken from the manifest of the
// environment (package probe), which is read when the first of them is asked for, and not at all where none is. The name of
// the system and the processor are known without it.
//
// Facts of GPUs are those of the GPUs that a benchmark can see: CUDA_VISIBLE_DEVICES counts. Where there are several, it is
// the least of them, so that what fits is right for each. A machine without a driver has none of them: gpu.count is 0.
// They are those of NVIDIA's GPUs or, without its driver, of AMD's.
//
// A user may give facts other values (bench --fact gpu.memory=16GiB), to see what a sweep does on another machine. These are
// stored with every run.
package fact

// Package fact provides the facts about a machine that expressions of sweep files may name: gpu.memory, os, cpu.count.
//
// A fact is a text, or a number. Numbers with a unit are in bytes or bytes per second. An unknown fact is NULL, with the reason
// from the environment (absent, permission, unsupported, timeout). Facts come from the description of the environment (package
// probe). It is read when the first fact is requested, and not at all if none is. The names of the operating system and of the
// instruction set are known without it.
//
// Facts about GPUs describe the GPUs that a benchmark can see, so CUDA_VISIBLE_DEVICES matters. If there are several, a number is
// the smallest of them, so that a problem of that size fits on each. On a machine without a GPU driver these facts are absent,
// and gpu.count is 0. They describe NVIDIA GPUs or, without the NVIDIA driver, AMD GPUs.
//
// A user may set facts to other values (bench --fact gpu.memory=16GiB), to see what a sweep would do on another machine. These
// values are stored with every run.
package fact

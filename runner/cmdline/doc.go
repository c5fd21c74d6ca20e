// Package line turns a command line into a sweep: bench 'sort a' 'sort -r a', bench -- make all, bench kernels.py:softmax,
// bench model.onnx. The result is an ordinary sweep file, so it can be saved and run again with the same meaning.
//
// Programs run without a shell. So a text is split into words as a shell does it, and nothing else is done. A text that needs a
// shell (for a pipe, a variable, a redirection) is refused, unless the key shell is set.
package cmdline

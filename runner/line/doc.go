// Package line makes a sweep of a command line: bench 'sort a' 'sort -r a', bench -- make all, bench kernels.py:softmax,
// bench model.onnx. What comes out is a sweep file like any other, so that a line can be kept, and means what it means there.
//
// Programs are started without a shell, so a text is split into words as a shell does it and nothing else of it is done. A
// text that wants more (a pipe, a variable, a redirection) is refused, unless the key shell has a shell run it.
package line

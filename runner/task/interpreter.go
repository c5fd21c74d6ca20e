package task

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// maxFirstLine is how much of the first line of a script Linux reads, in B, and maxInterpreters how many scripts may run one another.
const (
	maxFirstLine    = 256
	maxInterpreters = 5
)

// CheckInterpreter returns an error if the kernel cannot start the file of a program although it exists: if the interpreter in the first
// line of a script, or the loader of an ELF file, is missing. dir is the working directory of the program, env its environment. nil:
// nothing is known to be missing.
func CheckInterpreter(path, dir string, env []string) error {
	if runtime.GOOS != "linux" { // others read first lines in another way
		return nil
	}
	for range maxInterpreters {
		first, isScript := firstLine(InDir(dir, path))
		if !isScript {
			return checkLoader(InDir(dir, path))
		}
		name, argument, _ := strings.Cut(strings.ReplaceAll(first, "\t", " "), " ")
		if name == "" {
			return nil
		}
		info, err := os.Stat(InDir(dir, name))
		switch {
		case err != nil && strings.HasSuffix(name, "\r"):
			return fmt.Errorf("its interpreter %s does not exist: the script has Windows line ends", visible(name))
		case err != nil:
			return fmt.Errorf("its interpreter %s does not exist", visible(name))
		case info.IsDir():
			return fmt.Errorf("its interpreter %s is a directory", visible(name))
		case info.Mode()&0o111 == 0:
			return fmt.Errorf("its interpreter %s is not executable", visible(name))
		case filepath.Base(name) == "env":
			return checkEnv(strings.TrimLeft(argument, " "), env)
		}
		path = name
	}
	return nil
}

// firstLine returns the rest of a script's first line after #!; false: the file is not a script.
func firstLine(path string) (string, bool) {
	file, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer file.Close()
	start, err := io.ReadAll(io.LimitReader(file, maxFirstLine))
	line, isScript := bytes.CutPrefix(start, []byte("#!"))
	if err != nil || !isScript {
		return "", false
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	return strings.Trim(string(line), " \t"), true
}

// checkEnv returns an error if env cannot start the program in the first line of a script. Linux passes the whole line as one argument.
// Options other than -S are not checked.
func checkEnv(argument string, environ []string) error {
	split, isSplit := strings.CutPrefix(argument, "-S")
	name := argument
	if isSplit {
		name, _, _ = strings.Cut(strings.TrimLeft(split, " "), " ")
	}
	if name == "" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, `="'$\`) {
		return nil
	}
	if _, err := LookPath(name, environ); err == nil {
		return nil
	}
	trimmed := strings.TrimSuffix(name, "\r")
	switch {
	case trimmed != name:
		return fmt.Errorf("its interpreter %s is not on PATH: the script has Windows line ends", visible(name))
	case strings.Contains(name, " "):
		return fmt.Errorf("its interpreter %q is not on PATH: with arguments, its first line begins with #!/usr/bin/env -S", name)
	}
	return fmt.Errorf("its interpreter %s is not on PATH", visible(name))
}

// machines are the ELF machines whose loaders this system has.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// checkLoader returns whether the loader of an ELF file is missing.
func checkLoader(path string) error {
	file, err := elf.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	if file.Machine != machines[runtime.GOARCH] {
		return nil // an emulator may have its own loaders
	}
	for _, part := range file.Progs {
		const longest = 4096
		if part.Type != elf.PT_INTERP || part.Filesz > longest {
			continue
		}
		name, err := io.ReadAll(part.Open())
		if err != nil {
			return nil
		}
		loader := string(bytes.TrimRight(name, "\x00"))
		if _, err := os.Stat(loader); err != nil {
			return fmt.Errorf("its loader %s does not exist: the program was built for another system", visible(loader))
		}
	}
	return nil
}

// visible quotes unprintable characters of a name as Go does: \r.
func visible(name string) string {
	quoted := strconv.Quote(name)
	return quoted[1 : len(quoted)-1]
}

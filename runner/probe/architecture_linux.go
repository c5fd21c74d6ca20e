package probe

import "syscall"

// architecture names the instruction set of the machine as uname -m does: x86_64, aarch64.
func architecture() (string, error) {
	var system syscall.Utsname
	if err := syscall.Uname(&system); err != nil {
		return "", err
	}
	var name []byte
	for _, c := range system.Machine {
		if c == 0 {
			break
		}
		name = append(name, byte(c))
	}
	return string(name), nil
}

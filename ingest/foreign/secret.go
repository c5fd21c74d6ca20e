package foreign

import "strings"

// Secret reports whether a name that a user chose looks like that of a secret.
func Secret(name string) bool {
	name = strings.ToLower(name)
	for _, end := range []string{"key", "_token", "secret", "password", "passwd", "auth", "authorization", "credential", "credentials"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return name == "token"
}

package probe

import (
	"regexp"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema/lazyregexp"
)

// redacted replaces a value that identifies a machine or its owner.
const redacted = "(redacted)"

// identifying are the facts whose values identify a machine or its owner.
var identifying = []string{"host.id", "host.name", "machine", "os.boot_id", "os.cmdline", "git.remote", "git.branch"}

// identifyingOfDevice matches the identifying facts of a device.
var identifyingOfDevice = lazyregexp.MustCompile(`^gpu\.[0-9]+\.(uuid|serial)$`)

// addresses matches addresses of networks and names of users in paths.
var (
	addresses = lazyregexp.MustCompile(`\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}\b|\b(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}\b|\b(?:[0-9A-Fa-f]{1,4}:){3,7}[0-9A-Fa-f]{1,4}\b`)
	homes     = lazyregexp.MustCompile(`(/home/|/Users/|/var/home/)[^/:;,\s]+`)
)

// Redact returns facts without the values that identify a machine or its owner, so that they can be shown to anybody. names are names of
// the machine and its user, which are hidden wherever they appear as a word.
func Redact(facts map[string]string, names ...string) map[string]string {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return len(name) < 3 || name == "root" })
	shown := map[string]string{}
	for fact, value := range facts {
		if value != "" && (slices.Contains(identifying, fact) || identifyingOfDevice.MatchString(fact)) {
			shown[fact] = redacted
			continue
		}
		if strings.HasPrefix(fact, "env.") || strings.ContainsAny(value, "/:@") {
			value = homes.ReplaceAllString(value, "${1}"+redacted)
			value = addresses.ReplaceAllString(value, redacted)
		}
		for _, name := range names {
			value = regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).ReplaceAllLiteralString(value, redacted)
		}
		shown[fact] = value
	}
	return shown
}

package probe

import (
	"bytes"
	"slices"
	"strings"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// Mask hides secrets in the stored arguments and output of a command. The rules:
//
//   - the value of an argument whose name ends in a word for a secret (--password, --api-key, --hf-token, secret=...), given with =
//     or, after a name that begins with -, as the next argument;
//   - a text in the form of a known kind of secret (hf_..., sk-..., ghp_..., AKIA..., a JSON web token), anywhere;
//   - user name and password in a URL (https://name:password@host), and the text after Bearer or Basic;
//   - the password in name:password after -u or --user, as curl and wget take it, and the text of a header Cookie;
//   - the value of every environment variable with the name of a secret.
//
// A token of a language model is not a secret: tokens, max-token, pad_token and the like, and any number. Parameters of a sweep are not
// checked here, because they identify the measured point.
type Mask struct {
	known  *strings.Replacer // values of the environment
	values []string          // the same
}

// NewMask makes a mask with the secrets of an environment.
func NewMask(environ []string) Mask {
	const minLength = 8 // bytes: a shorter text has other meanings too
	var pairs, values []string
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if len(value) >= minLength && namesSecret(name) && !harmless(value) {
			pairs, values = append(pairs, value, hidden), append(values, value)
		}
	}
	return Mask{strings.NewReplacer(pairs...), values}
}

// In reports whether a file, which need not be text, has the value of a secret variable or a secret argument of a command line.
func (m Mask) In(content []byte, arguments []string) bool {
	secrets := slices.Clone(m.values)
	for i, masked := range m.Arguments(arguments) {
		if masked != arguments[i] {
			secrets = append(secrets, arguments[i])
		}
	}
	return slices.ContainsFunc(secrets, func(secret string) bool { return bytes.Contains(content, []byte(secret)) })
}

// Arguments hides the secrets of a command line.
func (m Mask) Arguments(list []string) []string {
	masked := make([]string, len(list))
	named := false // the argument before is a name whose value comes next
	for i, argument := range list {
		switch {
		case named && !strings.HasPrefix(argument, "-") && !harmless(argument):
			masked[i] = hidden
		case i > 0 && (list[i-1] == "-u" || list[i-1] == "--user"):
			words := m.Text(list[i-1] + " " + argument)
			masked[i] = strings.TrimPrefix(words, list[i-1]+" ")
		default:
			masked[i] = m.Text(argument)
		}
		named = strings.HasPrefix(argument, "-") && namesSecret(argument)
	}
	return masked
}

// assignment matches a name and a value in a text, and the text between them.
var assignment = regexp.MustCompile(`([A-Za-z][A-Za-z0-9_.-]*)("?\s*[=:]\s*|\s+)("[^"]*"|'[^']*'|[^\s"',;&]+)`)

// bearer matches the credentials in an Authorization header of HTTP.
var bearer = regexp.MustCompile(`(?i)\b(bearer|authorization: *basic) +[A-Za-z0-9._~+/=-]{8,}`)

var (
	// account matches a name and a password after the option of curl. A user and a group are numbers.
	account = regexp.MustCompile(`((?:^|[\s'"])(?:-u|--user)[ =]['"]?[^\s:'"]+:)([^\s'"]*[^\s'"0-9][^\s'"]*)`)
	// cookie matches the text of a header, up to the end of the word that has it.
	cookie = regexp.MustCompile(`(?i)\b((?:set-)?cookie: *)[^'"]+`)
)

// Text hides the secrets in a text.
func (m Mask) Text(text string) string {
	if m.known != nil {
		text = m.known.Replace(text)
	}
	text = scrub("", text)
	text = bearer.ReplaceAllString(text, "$1 "+hidden)
	text = account.ReplaceAllString(text, "${1}"+hidden)
	text = cookie.ReplaceAllString(text, "${1}"+hidden)
	var b strings.Builder
	for {
		at := assignment.FindStringSubmatchIndex(text)
		if at == nil {
			return b.String() + text
		}
		name, between, value := text[at[2]:at[3]], text[at[4]:at[5]], text[at[6]:at[7]]
		option := at[2] > 0 && text[at[2]-1] == '-'
		path := at[2] > 0 && text[at[2]-1] == '/' && !strings.Contains(between, "=") // /etc/passwd: an error message follows
		end := at[3]                                                                 // the value may be the next name
		b.WriteString(text[:end])
		if !path && (option || assigns(name, between, value)) && namesSecret(name) && !harmless(strings.Trim(value, `"'`)) && !strings.HasPrefix(value, "-") {
			b.WriteString(between + hidden)
			end = at[7]
		}
		text = text[end:]
	}
}

// assigns reports whether a name in the middle of a text has a value. A colon also appears in sentences ("unexpected token: x"), so
// after token it only counts if the value is too long for a word.
func assigns(name, between, value string) bool {
	const wordLength = 16
	return strings.Contains(between, "=") || strings.Contains(between, ":") && (!strings.EqualFold(name, "token") || len(value) >= wordLength)
}

// nameParts matches the parts of a name.
var nameParts = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)

// Endings of the names of secrets, the words before "key" that make it a secret, and the words that make a token one of a language
// model.
var (
	secretWords = []string{"secret", "password", "passwd", "passphrase", "credential", "credentials", "apikey", "passcode"}
	keyWords    = []string{"api", "access", "secret", "private", "auth", "account", "encryption", "ssh"}
	modelWords  = []string{
		"max", "min", "pad", "eos", "bos", "unk", "sep", "cls", "mask", "stop", "per", "num", "n", "special", "first", "next", "last",
		"new", "prompt", "image", "draft", "output", "input", "every", "by", "each", "end", "start", "begin", "time", "total", "extra", "added",
	}
)

// namesSecret reports whether a name is one of a secret.
func namesSecret(name string) bool {
	parts := nameParts.FindAllString(name, -1)
	if len(parts) == 0 {
		return false
	}
	last, before := strings.ToLower(parts[len(parts)-1]), ""
	if len(parts) > 1 {
		before = strings.ToLower(parts[len(parts)-2])
	}
	switch last {
	case "token":
		return !slices.Contains(modelWords, before)
	case "key":
		return slices.Contains(keyWords, before)
	}
	return slices.Contains(secretWords, last)
}

// notSecret matches values that are never secrets: numbers, yes and no, special tokens of a tokenizer.
var notSecret = regexp.MustCompile(`^(?i:[-+]?[0-9.,_]{1,9}[kmg]?|true|false|yes|no|on|off|none|null|auto|<[^>]*>|\[[A-Z]+\]|</?s>)$`)

func harmless(value string) bool { return value == "" || notSecret.MatchString(value) }

// listened are the variables, or the beginnings of their names, that numeric libraries, the memory allocator and the locale of
// the C library, and the runtimes of Go, Python, Java and Node.js act on.
// TensorFlow's are listed closely, since Terraform keeps its secrets under TF_ too.
var listened = []string{
	"CUDA_", "NCCL_", "HIP_", "ROCR_", "HSA_", "ROCM_", "MIOPEN_", "RCCL_", "OMP_", "KMP_", "GOMP_", "MKL_", "OPENBLAS_", "PYTORCH_", "TORCH_", "XLA_",
	"TF_CPP_", "TF_CUDA_", "TF_CUDNN_", "TF_DETERMINISTIC_", "TF_DISABLE_", "TF_ENABLE_", "TF_FORCE_", "TF_GPU_",
	"TF_NUM_", "TF_XLA_",
	"MALLOC_", "GLIBC_TUNABLES", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LANG", "LD_PRELOAD", "LD_LIBRARY_PATH", "GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT",
	"PYTHONHASHSEED", "PYTHONMALLOC", "PYTHONOPTIMIZE", "PYTHONDEVMODE", "PYTHON_GIL", "PYTHON_JIT", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "NODE_OPTIONS",
}

// readEnviron takes over the variables that are listened to. A variable that is not set is no missing fact.
func readEnviron(environ []string, f *facts) {
	mask := NewMask(environ) // a path may hold the value of another variable
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if value != "" && slices.ContainsFunc(listened, func(known string) bool {
			return name == known || strings.HasSuffix(known, "_") && strings.HasPrefix(name, known)
		}) {
			f.set("env."+name, scrub(name, mask.known.Replace(value)))
		}
	}
}

// hidden replaces a secret.
const hidden = "<hidden>"

var (
	secretName  = regexp.MustCompile(`(?i)token|secret|passw|credential|private|(^|[_.-])(api|access)?_?key($|[_.-])`)
	secretValue = regexp.MustCompile(`\b(?:(?:hf_|gh[a-z]_|github_pat_|glpat-|xox[a-z]-|eyJ|AIza)[A-Za-z0-9_.-]{16,}|(?:AKIA|ASIA)[A-Z0-9]{16}|` +
		`sk-(?:[a-z0-9]{1,8}-)*[A-Za-z0-9_]*(?:[A-Za-z][0-9]|[0-9][A-Za-z])[A-Za-z0-9_-]{8,}|` +
		`sk-[A-Za-z0-9]{12,}(?:[A-Za-z][0-9]|[0-9][A-Za-z])[A-Za-z0-9_-]*)`)
	userInfo = regexp.MustCompile(`://[^/@\s]+@`)
)

// scrub hides a value with the name of a secret, and the parts of a value that have the form of one.
func scrub(name, value string) string {
	if secretName.MatchString(name) {
		return hidden
	}
	value = userInfo.ReplaceAllString(value, "://"+hidden+"@")
	return secretValue.ReplaceAllString(value, hidden)
}

// scrubWords scrubs a line of words like key=value.
func scrubWords(text string) (string, error) {
	words := strings.Fields(text)
	for i, word := range words {
		name, value, ok := strings.Cut(word, "=")
		if ok {
			words[i] = name + "=" + scrub(name, value)
		} else {
			words[i] = scrub("", word)
		}
	}
	return strings.Join(words, " "), nil
}

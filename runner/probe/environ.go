package probe

import (
	"slices"
	"strings"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// listened are the variables, or the beginnings of their names, that numeric libraries, the memory allocator and the locale of
// the C library, and the Go runtime act on.
// TensorFlow's are listed closely, since Terraform keeps its secrets under TF_ too.
var listened = []string{
	"CUDA_", "NCCL_", "HIP_", "ROCR_", "HSA_", "ROCM_", "MIOPEN_", "RCCL_", "OMP_", "KMP_", "GOMP_", "MKL_", "OPENBLAS_", "PYTORCH_", "TORCH_", "XLA_",
	"TF_CPP_", "TF_CUDA_", "TF_CUDNN_", "TF_DETERMINISTIC_", "TF_DISABLE_", "TF_ENABLE_", "TF_FORCE_", "TF_GPU_",
	"TF_NUM_", "TF_XLA_",
	"MALLOC_", "GLIBC_TUNABLES", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LANG", "LD_PRELOAD", "LD_LIBRARY_PATH", "GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT",
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

// hidden stands for what looks like a secret.
const hidden = "<hidden>"

var (
	secretName  = regexp.MustCompile(`(?i)token|secret|passw|credential|private|(^|[_.-])(api|access)?_?key($|[_.-])`)
	secretValue = regexp.MustCompile(`\b(?:(?:hf_|gh[a-z]_|github_pat_|glpat-|xox[a-z]-|eyJ|AIza)[A-Za-z0-9_.-]{16,}|(?:AKIA|ASIA)[A-Z0-9]{16}|` +
		`sk-(?:[a-z0-9]{1,8}-)*[A-Za-z0-9_]*(?:[A-Za-z][0-9]|[0-9][A-Za-z])[A-Za-z0-9_-]{8,}|` +
		`sk-[A-Za-z0-9]{12,}(?:[A-Za-z][0-9]|[0-9][A-Za-z])[A-Za-z0-9_-]*)`)
	userInfo = regexp.MustCompile(`://[^/@\s]+@`)
)

// scrub hides a value whose name, or the parts of it whose form, is that of a secret.
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

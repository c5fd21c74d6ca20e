package onnx

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
)

// Generated returns the arguments of Generate that produce a file, which is known by its SHA-256 in hex.
func Generated(hash string) (name, precision string, ok bool) {
	made, ok := generated()[hash]
	return made.name, made.precision, ok
}

type asked struct{ name, precision string }

// generated are all models by the hashes of their contents. That of tf32 is the one of fp32, by which it goes.
var generated = sync.OnceValue(func() map[string]asked {
	all := map[string]asked{}
	for _, name := range Names() {
		for _, precision := range Precisions() {
			content, err := Generate(name, precision)
			if err != nil || precision == "tf32" {
				continue
			}
			sum := sha256.Sum256(content)
			all[hex.EncodeToString(sum[:])] = asked{name, precision}
		}
	}
	return all
})

package ingest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/neurolens/neurolens/schema"
)

// checkSmall looks at a file that is read whole.
func (v *verifier) checkSmall(s stored) error {
	switch s.kind {
	case kindArtifact:
		return checkArtifact(v.files, s.path)
	case kindOut:
		return v.checkOut(s)
	}
	content, err := fs.ReadFile(v.files, s.path)
	if err != nil {
		return err
	}
	var again []byte // the same text, printed anew
	switch s.kind {
	case kindHeader:
		header, err := schema.DecodeHeader(content)
		if err != nil {
			return err
		}
		again, err = header.Encode()
		if err != nil {
			return err
		}
	case kindOwner:
		o, err := readOwner(v.files, path.Dir(s.path))
		if err != nil {
			return err
		}
		if again, err = o.encode(); err != nil {
			return err
		}
	case kindPlan:
		return v.checkPlan(s, content)
	case kindEvent:
		return checkEvent(s, content)
	case kindPackedEvents:
		return v.checkPackedEvents(s, content)
	}
	return checkText(content, again)
}

// checkText compares the text of a file with what it means printed anew: JSON can be changed without changing what it
// means, and a hash of the meaning does not tell.
func checkText(content, again []byte) error {
	if !bytes.Equal(content, again) {
		return fmt.Errorf("%w: it is not as it was written", schema.ErrDamaged)
	}
	return nil
}

func checkEvent(s stored, content []byte) error {
	e, err := schema.DecodeEvent(content)
	if err != nil {
		return err
	}
	if e.EventID != s.id.String() {
		return fmt.Errorf("%w: it is event %s", schema.ErrDamaged, e.EventID)
	}
	again, err := e.Encode()
	if err != nil {
		return err
	}
	return checkText(content, again)
}

// checkPackedEvents compares the lines of packed events with the events.
func (v *verifier) checkPackedEvents(s stored, content []byte) error {
	for line := range bytes.Lines(content) {
		e, err := schema.DecodeEvent(line)
		if err != nil {
			return err
		}
		id, err := schema.ParseULID(e.EventID)
		if err != nil {
			return fmt.Errorf("%w: %w", schema.ErrDamaged, err)
		}
		original, err := fs.ReadFile(v.files, schema.EventFile(id))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			v.add(Finding{SeverityDamage, schema.EventFile(id), "it is not there, and " + s.path + " has its line", remedyRestore})
		case err != nil:
			return err
		case checkEvent(stored{id: id}, original) == nil && !bytes.Equal(line, original):
			return damagedf(s.path, "its line of event %s is not that of %s", e.EventID, schema.EventFile(id))
		}
	}
	return nil
}

// checkPlan compares a plan with the sealed file that it has become, if it has.
func (v *verifier) checkPlan(s stored, content []byte) error {
	plan, err := schema.ReadPlan(v.files, s.claim)
	if err != nil {
		return err
	}
	again, err := plan.Encode()
	if err != nil {
		return err
	}
	if err := checkText(content, again); err != nil || plan.File == "" {
		return err
	}
	_, err = plannedFile(s.claim, plan)
	return err
}

// checkOut looks at a file of a claim that is not part of the store yet. Its sealer writes it, or has died: it will be
// written anew then. So it is no damage.
func (v *verifier) checkOut(s stored) error {
	err := checkHash(v.files, s.path)
	if errors.Is(err, schema.ErrDamaged) {
		v.add(Finding{SeverityNotice, s.path, "it is not whole; whoever goes on with this claim writes it anew", remedyNone})
		return nil
	}
	return err
}

// checkHash compares a Parquet file with the hash that it carries.
func checkHash(f fs.FS, name string) error {
	file, content, size, err := openFile(f, name)
	if err != nil {
		return err
	}
	defer file.Close()
	return inFile(name, schema.CheckFileHashAt(content, size))
}

// checkArtifact compares a file with the hash that is its name.
func checkArtifact(f fs.FS, name string) error {
	file, err := f.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != artifactHash(name) {
		return fmt.Errorf("%w: it has the hash %s", schema.ErrDamaged, got)
	}
	return nil
}

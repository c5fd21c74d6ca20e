package disk

import (
	"errors"
	"io/fs"

	"github.com/neurolens/neurolens/schema"
)

// CheckWritable returns the reason why a store is not writable, if it can be determined without trying.
func CheckWritable(files Files) error {
	for _, zone := range []string{schema.TmpDir, schema.LiveDir} {
		err := files.Writable(zone)
		if errors.Is(err, fs.ErrNotExist) {
			err = files.Writable(".") // where the first run makes it
		}
		if err != nil {
			return err
		}
	}
	return nil
}

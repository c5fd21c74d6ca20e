package disk

import (
	"time"

	"github.com/neurolens/neurolens/schema"
)

// NewHeader returns the header of a new store.
func NewHeader() ([]byte, error) {
	now := time.Now().UTC()
	return schema.Header{Format: schema.Format, StoreID: schema.NewULID(now).String(), Created: now}.Encode()
}

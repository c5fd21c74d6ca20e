package layout

import (
	"time"

	"github.com/neurolens/neurolens/schema"
)

// NewHeader is the header of a store that is made now.
func NewHeader() ([]byte, error) {
	now := time.Now().UTC()
	return schema.Header{Format: schema.Format, StoreID: schema.NewULID(now).String(), Created: now}.Encode()
}

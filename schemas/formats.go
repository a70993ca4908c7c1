package schemas

import (
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// formats lists the formats that the validator gets: as published, formats are
// annotations; as intended, those are checked that an erratum asserts.
func (f *file) formats(o Options) []*jsonschema.Format {
	return nil
}

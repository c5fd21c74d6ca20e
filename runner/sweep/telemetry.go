package sweep

import "encoding/json"

// Telemetry are readings of the device that a sweep asks for.
type Telemetry struct {
	Energy bool    `json:"energy,omitempty"` // of each iteration
	Hz     float64 `json:"hz,omitempty"`     // readings a second, above 0; 0: not set
}

// maxHz is more often than any device has a new reading.
const maxHz = 1000

// keysOfTelemetry are the keys of telemetry.
var keysOfTelemetry = []Key{
	{Name: "hz", Value: Value{Kind: Number, Max: maxHz}, Doc: "Readings a second."},
	{Name: "energy", Value: switchValue, Default: "false", Doc: "Compute the energy of an iteration from them."},
}

// readTelemetry reads the key telemetry.
func (s *settings) readTelemetry(d *document) error {
	f := d.keys["telemetry"]
	if !f.given() {
		return nil
	}
	said, err := f.known("telemetry.", keyNames(keysOfTelemetry))
	if err != nil {
		return err
	}
	s.point.Telemetry = &Telemetry{}
	if hz := said["hz"]; hz.given() {
		number, err := hz.positive()
		if err != nil || toFloat(number) > maxHz {
			return hz.errorf("want a number above 0 and at most %d, got %s", maxHz, hz.got())
		}
		s.point.Telemetry.Hz = toFloat(number)
	}
	if energy := said["energy"]; energy.given() {
		s.point.Telemetry.Energy, err = energy.boolean()
	}
	return err
}

// telemetryText is the key telemetry as JSON; empty where it is not given.
func telemetryText(p *Point) string {
	if p.Telemetry == nil {
		return ""
	}
	text, _ := json.Marshal(p.Telemetry) // numbers and switches always have one
	return string(text)
}

package formats

import (
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// nvbTest is a test in the JSON.
type nvbTest struct {
	Name        string           `json:"name"`
	Status      string           `json:"status"`
	Error       string           `json:"error"`
	Description string           `json:"bandwidth_description"`
	Matrix      [][]foreign.Text `json:"bandwidth_matrix"`
}

// readNVBandwidthJSON reads JSON, whose members are sorted by name: devices and CUDA versions come before the tests, and
// the version of the tool after them.
func readNVBandwidthJSON(in *foreign.Input, out *foreign.Output) error {
	j, err := in.JSON()
	if err != nil {
		return err
	}
	var n nvbMachine
	err = j.Members(func(name string) error {
		if name != "nvbandwidth" {
			return j.Skip()
		}
		return out.RefuseMismatch(j.Members(func(name string) error { return out.RefuseMismatch(n.member(name, j, out)) }))
	})
	return out.RefuseMismatch(err)
}

func (n *nvbMachine) member(name string, j *foreign.JSON, out *foreign.Output) error {
	var text foreign.Text
	switch name {
	case "testcases":
		return j.Elements(func(int) error { return n.test(j, out) })
	case "GPU Device list", "GPU Device info":
		var devices []string
		err := j.Decode(&devices)
		for _, d := range devices {
			n.device(d)
		}
		return err
	case "CUDA Runtime Version":
		err := j.Decode(&text)
		n.cuda(string(text))
		return err
	case "Driver Version":
		err := j.Decode(&text)
		n.env.DriverVersion = string(text)
		return err
	case "version":
		err := j.Decode(&text)
		out.Version(string(text))
		return err
	case "error":
		err := j.Decode(&text)
		out.Refuse(j.Where(), fmt.Errorf("the tool ended: %s", text))
		return err
	}
	return j.Skip()
}

func (n *nvbMachine) test(j *foreign.JSON, out *foreign.Output) error {
	var t nvbTest
	if err := j.Decode(&t); err != nil {
		return out.RefuseMismatch(err)
	}
	where := j.Where()
	r := n.run(t.Name)
	switch {
	case t.Name == "":
		out.Refuse(where, fmt.Errorf("a test without name"))
		return nil
	case strings.EqualFold(t.Status, "waived"):
		r.Status = schema.StatusUnsupported
		return out.Run(where, r)
	case t.Error != "" || len(t.Matrix) == 0:
		r.Status, r.Error = schema.StatusError, t.Error
		if r.Error == "" {
			r.Error = t.Status
		}
		return out.Run(where, r)
	}
	return n.matrix(&t, where, out)
}

// matrix yields the cells of a test. A test that copies in both directions has three matrices, one below the other; the
// last one, the total, gives its name to all.
func (n *nvbMachine) matrix(t *nvbTest, where string, out *foreign.Output) error {
	parts := []string{""}
	if part := nvbPart.FindStringSubmatch(t.Description); part != nil && part[2] != "" && len(t.Matrix)%3 == 0 {
		parts = []string{"1", "2", "total"}
	}
	rows := len(t.Matrix) / len(parts)
	for i, row := range t.Matrix {
		m := nvbMatrix{test: t.Name, description: t.Description, part: parts[i/rows]}
		for k, value := range row {
			at := fmt.Sprintf("%s/bandwidth_matrix/%d/%d", where, i, k)
			cell := nvbCell{&m, at, fmt.Sprint(i % rows), fmt.Sprint(k), string(value)}
			if err := n.cell(out, cell); err != nil {
				return err
			}
		}
	}
	return nil
}

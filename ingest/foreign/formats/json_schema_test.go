package formats

import (
	"encoding/json"
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
	"github.com/neurolens/neurolens/schema"
)

// TestJSONSchema: the schema that is published is that of the columns.
func TestJSONSchema(t *testing.T) {
	want, err := json.MarshalIndent(runSchemaOf(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	foreigntest.Compare(t, "run.schema.json", string(want)+"\n")
}

type object = map[string]any

func runSchemaOf() object {
	properties := propertiesOf(schema.Runs.Columns)
	samples := propertiesOf(schema.Samples.Columns[1:])
	samples["values"] = object{
		"description": "samples in the given unit (any that NeuroLens knows, such as us, ms, s, KiB, GB/s, %), instead of ticks and reals",
		"type":        "array", "items": number(),
	}
	properties[sessionMember] = object{
		"description": "the session of the run: a ULID, or any name, which means the same session within this file. Without it, the runs of one day (UTC) on one machine " +
			"are one session. Without started_at as well, the run belongs to no session and gets no verdict.",
		"type": []string{"string", "number", "null"},
	}
	properties[samplesMember] = object{
		"description": "the metrics of the run", "type": []string{"array", "null"},
		"items": object{"type": "object", "properties": samples, "required": []string{"metric"}, "additionalProperties": false},
	}
	properties[opsMember] = object{
		"description": "the operators and kernels of a profiled run", "type": []string{"array", "null"},
		"items": object{"type": "object", "properties": propertiesOf(schema.Ops.Columns[1:]), "additionalProperties": false},
	}
	return object{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "NeuroLens run",
		"description": "One line of the format jsonl. Unknown values are null or left out. Leave out run_id: it is computed from the content. " +
			"Digest, summary and warnings are computed again from the samples; a metric without samples keeps its summary.",
		"type": "object", "properties": properties, "required": []string{"benchmark"}, "additionalProperties": false,
	}
}

func propertiesOf(columns []*schema.Column) object {
	properties := object{}
	for _, c := range columns {
		p := typeOf(c)
		p["description"] = c.Doc
		if c.Unit != "" && c.Unit != schema.UnitOfRow {
			p["description"] = c.Doc + " [" + c.Unit + "]"
		}
		properties[c.Name] = p
	}
	return properties
}

func number() object {
	return object{"anyOf": []any{object{"type": "number"}, object{"enum": []string{"NaN", "Infinity", "-Infinity"}}}}
}

func typeOf(c *schema.Column) object {
	switch c.Kind {
	case schema.KindInt:
		return object{"type": []string{"integer", "null"}}
	case schema.KindReal:
		n := number()
		n["anyOf"] = append(n["anyOf"].([]any), object{"type": "null"})
		return n
	case schema.KindBool:
		return object{"type": []string{"boolean", "null"}}
	case schema.KindTime:
		return object{"type": []string{"string", "null"}, "format": "date-time"}
	case schema.KindList:
		return object{"type": []string{"array", "null"}, "items": elementOf(c.Children[0])}
	case schema.KindMap:
		values := object{"type": []string{"string", "number", "boolean", "null"}}
		if c.Children[1].Kind == schema.KindReal {
			values = number()
		}
		return object{"type": []string{"object", "null"}, "additionalProperties": values}
	}
	return object{"type": []string{"string", "null"}}
}

func elementOf(c *schema.Column) object {
	switch c.Kind {
	case schema.KindReal:
		return number()
	case schema.KindInt:
		return object{"type": "integer"}
	case schema.KindStruct:
		return object{"type": "object", "properties": propertiesOf(c.Children), "additionalProperties": false}
	}
	return object{"type": "string"}
}

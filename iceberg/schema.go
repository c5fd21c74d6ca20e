package main

import (
	"github.com/apache/iceberg-go"

	"github.com/neurolens/neurolens/schema"
)

// schemaOf returns the columns of a table of the store, with the field ids that its files have.
func schemaOf(t *schema.Table) *iceberg.Schema { return iceberg.NewSchema(0, fieldsOf(t.Columns)...) }

func fieldsOf(columns []*schema.Column) []iceberg.NestedField {
	fields := make([]iceberg.NestedField, len(columns))
	for i, c := range columns {
		fields[i] = iceberg.NestedField{ID: c.ID, Name: c.Name, Type: typeOf(c), Required: c.Required, Doc: c.Doc}
	}
	return fields
}

func typeOf(c *schema.Column) iceberg.Type {
	switch c.Kind {
	case schema.KindInt:
		return iceberg.PrimitiveTypes.Int64
	case schema.KindReal:
		return iceberg.PrimitiveTypes.Float64
	case schema.KindBool:
		return iceberg.PrimitiveTypes.Bool
	case schema.KindTime:
		return iceberg.PrimitiveTypes.TimestampTz
	case schema.KindList:
		element := c.Children[0]
		return &iceberg.ListType{ElementID: element.ID, Element: typeOf(element), ElementRequired: element.Required}
	case schema.KindMap:
		key, value := c.Children[0], c.Children[1]
		return &iceberg.MapType{KeyID: key.ID, KeyType: typeOf(key), ValueID: value.ID, ValueType: typeOf(value), ValueRequired: value.Required}
	case schema.KindStruct:
		return &iceberg.StructType{FieldList: fieldsOf(c.Children)}
	default:
		return iceberg.PrimitiveTypes.String
	}
}

// tagSchema returns the columns of tag.
func tagSchema() *iceberg.Schema {
	text := iceberg.PrimitiveTypes.String
	return iceberg.NewSchema(0,
		iceberg.NestedField{ID: 1, Name: "run_id", Type: text, Required: true, Doc: "id of the run"},
		iceberg.NestedField{ID: 2, Name: "key", Type: text, Required: true, Doc: "key of the tag"},
		iceberg.NestedField{ID: 3, Name: "value", Type: text, Doc: "value of the tag that was set later; NULL: it was taken away"},
	)
}

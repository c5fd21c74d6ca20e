package sweep

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// option is the value of the command line for a key; the zero field if there is none. An empty text counts as not set, and a
// switch can only be switched on.
func (d *document) option(key string) field {
	text, given := d.over.Given[key]
	k := keyOf(key)
	if !given {
		return field{}
	}
	if k.Verbatim {
		f := option("--"+k.OptionName(), "", "")
		f.Node = k.verbatim(text)
		return f
	}
	tag := "!!str"
	switch k.Value.Kind {
	case Integer:
		tag = "!!int"
	case Share:
		tag = "!!float"
	case Switch:
		tag, given = "!!bool", text == "true"
	case Either:
		if _, err := strconv.ParseInt(text, 10, 64); err == nil { // a number or a word
			tag = "!!int"
		}
	case Text, Scalar, Word:
		given = text != ""
	}
	if !given {
		return field{}
	}
	return option("--"+k.OptionName(), tag, text)
}

// choose is the value of the command line for a key, else the value in the file.
func (d *document) choose(key string) field {
	if f := d.option(key); f.given() {
		return f
	}
	return d.keys[key]
}

// option makes a text of the command line a field, so that it is checked like a value in the file.
func option(name, tag, text string) field {
	return field{&yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}, origin{name: name}, "", 0}
}

// optionItems are the values of an option that takes a list; nil: the option is not set.
func (d *document) optionItems(key string) []field {
	text, given := d.over.Given[key]
	if !given {
		return nil
	}
	items := []field{}
	for word := range strings.SplitSeq(text, ",") {
		if text != "" {
			items = append(items, option("--"+keyOf(key).OptionName(), "!!str", word))
		}
	}
	return items
}

package sweep

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// option is what the command line says in place of a key; the zero field where it says nothing. A text without characters
// says nothing, and a switch can only be switched on.
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

// choose is what the command line says in place of a key, else the value of the key.
func (d *document) choose(key string) field {
	if f := d.option(key); f.given() {
		return f
	}
	return d.keys[key]
}

// option gives a text of the command line the checks of a value in the file.
func option(name, tag, text string) field {
	return field{&yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}, origin{name: name}, "", 0}
}

// optionItems are the values of an option that takes a list; nil where it is not given.
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

package run

import "github.com/fiberfill/fiberfill/polyfill"

// tags are the tags and tables of a system with events.
type tags struct {
	of     *world
	events *polyfill.Events
}

// Tag makes a tag whose events carry values of the types given, at most [polyfill.MaxValues]. The name is for messages;
// two tags of one name differ.
func (t *tags) Tag(name string, params ...polyfill.Type) *Tag {
	return t.make(name, polyfill.List(params...), 0)
}

func (t *tags) make(name string, params, results polyfill.Types) *Tag {
	tag := &Tag{t.of, t.events.NewTag(params, results), name}
	if tag.number == 0 {
		panic("polyfill/run: the tag " + name + " is of types that there are not")
	}
	t.of.made = append(t.of.made, tag)
	return tag
}

// Tagged returns the tag of a number, which is the count of the tags when it was made; nil if there is none.
func (t *tags) Tagged(number polyfill.Tag) *Tag {
	if !t.events.Known(number) {
		return nil
	}
	return t.of.tag(number)
}

// On returns the table of the tags given: what an instruction takes, the first of a tag wins. Make it once, not at each
// switch. A tag of another system panics.
func (t *tags) On(list ...*Tag) polyfill.Table {
	var buffer [16]polyfill.Tag
	numbers := buffer[:0]
	for _, tag := range list {
		if tag == nil || tag.world != t.of {
			panic("polyfill/run: On: nil tag, or tag of another system (K-3)")
		}
		numbers = append(numbers, tag.number)
	}
	table, _ := t.events.NewTable(numbers...)
	return table
}

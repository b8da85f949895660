package run

import "github.com/fiberfill/fiberfill/polyfill"

// tags are the tags and tables of a system with events.
type tags struct {
	of     *world
	events *polyfill.Events
}

// Tag makes a tag whose events carry values of the given types. It panics if a type does not exist or if there are more
// than [polyfill.MaxValues]. The name is for messages; two tags of the same name differ.
func (t *tags) Tag(name string, params ...polyfill.Type) *Tag {
	return t.make(name, polyfill.List(params...), 0)
}

func (t *tags) make(name string, params, results polyfill.Types) *Tag {
	tag := &Tag{t.of, t.events.NewTag(params, results), name}
	if tag.number == 0 {
		panic("polyfill/run: the tag " + name + " has types that do not exist")
	}
	t.of.made = append(t.of.made, tag)
	return tag
}

// Tagged returns the tag with a number, nil if there is none. Tags are numbered from 1 in the order of their making.
func (t *tags) Tagged(number polyfill.Tag) *Tag {
	if !t.events.Known(number) {
		return nil
	}
	return t.of.tag(number)
}

// Unknown returns a tag for a number that no tag has: every operation refuses it, and tells the number. A host hands it
// to the operations of a guest that has made the number up.
func (t *tags) Unknown(number polyfill.Tag) *Tag { return &Tag{t.of, number, "unknown"} }

// On returns the table of the tags that an instruction takes; of a tag that is given twice, the first place counts.
// Make a table once, not at each switch. On panics if a tag is nil or of another system.
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

package lower

import "github.com/fiberfill/fiberfill/internal/wasm"

// What a lowered module imports from the driver, behind the guest's own imports: functions, then globals, then an
// identity for each tag and the registers.
const (
	driverNew = iota
	driverBind
	driverSuspend
	driverSwitch
	driverResume
	driverResumeThrow
	driverFuncs // how many there are
)

var driverNames = [driverFuncs]string{"new", "bind", "suspend", "switch", "resume", "resume_throw"}

// driverTypes are their parameters and results, in the binary format.
var driverTypes = [driverFuncs][2]string{
	{"\x01\x64\x00", "\x01\x64\x04"},
	{"\x02\x63\x05\x64\x00", "\x01\x64\x04"},
	{"\x01\x64\x02", "\x00"},
	{"\x02\x63\x05\x64\x02", "\x01\x64\x04"},
	{"\x03\x63\x05\x63\x03\x63\x03", "\x00"},
	{"\x04\x69\x63\x05\x63\x03\x63\x03", "\x00"},
}

const (
	globalState = iota
	globalOutcome
	globalLast
	globalCaptured
	globalExn
	globalFrames
	driverGlobals // how many there are
)

var globalNames = [driverGlobals]string{"state", "outcome", "last", "captured", "exn", "frames"}

// globalTypes are their types, in the binary format. All are mutable.
var globalTypes = [driverGlobals]string{"\x7f", "\x7f", "\x63\x00", "\x63\x04", "\x69", "\x7f"}

// driver returns the index of one of the driver's functions, hidden that of one of its globals, tag that of a tag's
// identity.
func (l *lowering) driver(k int) uint32 { return uint32(l.m.ImportedFuncs + k) }

func (l *lowering) hidden(k int) uint32 { return uint32(l.m.ImportedGlobals + k) }

func (l *lowering) tag(x uint32) uint32 { return l.hidden(driverGlobals) + x }

// hiddenImports writes what is imported from the driver.
func (l *lowering) hiddenImports(w *wasm.Writer) {
	for k, name := range driverNames {
		w.Name(Namespace)
		w.Name(name)
		w.Byte(wasm.KindFunc)
		w.U32(l.driverTypes[k])
	}
	for k, name := range globalNames {
		w.Name(Namespace)
		w.Name(name)
		w.Byte(wasm.KindGlobal)
		w.Raw(globalTypes[k])
		w.Byte(mut)
	}
	for k := range l.m.Tags {
		w.Name(Namespace)
		w.Numbered("tag.", uint32(k))
		w.Byte(wasm.KindGlobal)
		w.Byte(0x64)
		w.S32(typeTag)
		w.Byte(fixed)
	}
	for c, n := range l.registers {
		for k := uint32(0); k < n; k++ {
			w.Name(Namespace)
			w.Numbered(classNames[c]+".", k)
			w.Byte(wasm.KindGlobal)
			w.Raw(classTypes[c])
			w.Byte(mut)
		}
	}
}

// hiddenCount returns how many imports these are.
func (l *lowering) hiddenCount() uint32 { return driverFuncs + l.hiddenGlobals }

// addGlobal adds a global, given as its type and the initial value in the binary format, and returns its index; if it
// is to be shared, one with the same contents will do.
func (l *lowering) addGlobal(global string, shared bool) uint32 {
	first := l.glob(uint32(len(l.m.Globals)))
	for i, g := range l.globals {
		if shared && g == global {
			return first + uint32(i)
		}
	}
	l.globals = append(l.globals, global)
	return first + uint32(len(l.globals)-1)
}

// tagList returns the global with a list of tags.
func (l *lowering) tagList(tags []uint32) uint32 {
	var w wasm.Writer
	w.Byte(0x64)
	w.S32(typeTags)
	w.Byte(fixed)
	for _, tag := range tags {
		w.Op(wasm.OpGlobalGet, l.tag(tag))
	}
	w.Raw("\xfb\x08") // array.new_fixed
	w.U32(typeTags)
	w.U32(uint32(len(tags)))
	w.Byte(wasm.OpEnd)
	return l.addGlobal(string(w.B), true)
}

// ownTag returns the index of a tag without parameters.
func (l *lowering) ownTag() uint32 {
	l.needTag = true
	return uint32(len(l.m.Tags))
}

package main

// exemptions are the rules that have no test on a substrate, with why not.
var exemptions = []exemption{
	{"go wazero", "J-EXP-* J-IMP-*", "These are about calls from JavaScript and its Promises. There is none: Go calls exports and is called by imports."},
	{"wasm", "J-IMP-4", "Go says itself where it waits: what a function returns is there at once, and asyncio.Await of what is no Promise takes " +
		"a round of the microtasks, as JavaScript's await does."},
	{"jspi", "J-COST-1", "On JSPI a resume is a microtask: only the engine's stack switching itself could do without."},
	{"jspi wazero", "A-HDL-4", "The blocks are the guest's own code: it gets the payload of an event, and its variables stand for what a block has besides."},
}

package main

// equivalent are the mutants that no test can tell from the code, with the reason.
var equivalent = []struct{ path, name, why string }{}

// equivalentIn returns the reasons for one file, by the names of the mutants.
func equivalentIn(path string) map[string]string {
	list := map[string]string{}
	for _, e := range equivalent {
		if e.path == path {
			list[e.name] = e.why
		}
	}
	return list
}

package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// exemption is a group of rules that no test checks on some substrates. If a test there is named for one of the rules,
// or expects its refusal, the exemption is an error.
type exemption struct {
	substrates string // names
	rules      string // ids; J-EXP-* stands for all ids with that prefix
	why        string // a sentence
}

func (t *ruleTable) print() error { return t.report(os.Stdout) }

// report prints a line for each rule, the sums, and the problems. It returns an error if there are any.
func (t *ruleTable) report(w io.Writer) error {
	problems := t.applyExemptions()
	for _, id := range slices.Sorted(maps.Keys(t.strange)) {
		problems = append(problems, fmt.Sprintf("%s is no rule; a test named for it: %s", id, t.strange[id]))
	}
	sums := map[[2]string]int{}
	for _, rule := range t.rules {
		line := "rule " + rule
		for _, substrate := range substrates {
			cell := t.cells[[2]string{rule, substrate}]
			state := cell.state()
			sums[[2]string{substrate, state}]++
			line += fmt.Sprintf(" %s=%s", substrate, state)
			for _, test := range cell.failed {
				problems = append(problems, fmt.Sprintf("FAIL %s on %s: %s", rule, substrate, test))
			}
		}
		fmt.Fprintln(w, line)
	}
	fmt.Fprintf(w, "\n%d rules  %7s %7s %7s %7s\n", len(t.rules), "pass", "exempt", "missing", "FAIL")
	bad := len(problems)
	for _, substrate := range substrates {
		sum := func(state string) int { return sums[[2]string{substrate, state}] }
		bad += sum("missing")
		fmt.Fprintf(w, "%-9s  %7d %7d %7d %7d\n", substrate, sum("pass"), sum("exempt"), sum("missing"), sum("FAIL"))
	}
	for _, problem := range problems {
		fmt.Fprintln(w, problem)
	}
	if bad > 0 {
		return errors.New("some rules are not tested, or not kept: see the table above")
	}
	return nil
}

func (c *ruleCell) state() string {
	switch {
	case len(c.failed) > 0:
		return "FAIL"
	case c.passed > 0:
		return "pass"
	case c.why != "":
		return "exempt"
	}
	return "missing"
}

// applyExemptions writes the reasons into their cells and returns the problems of the exemptions themselves.
func (t *ruleTable) applyExemptions() (problems []string) {
	add := func(format string, values ...any) { problems = append(problems, fmt.Sprintf(format, values...)) }
	for _, e := range t.exempt {
		if e.why == "" {
			add("the exemption of %s has no reason", e.rules)
		}
		for pattern := range strings.FieldsSeq(e.rules) {
			rules := t.matching(pattern)
			if len(rules) == 0 {
				add("the exemption of %s matches no rule", pattern)
			}
			for _, rule := range rules {
				for substrate := range strings.FieldsSeq(e.substrates) {
					cell := t.cells[[2]string{rule, substrate}]
					switch {
					case cell == nil:
						add("the exemption of %s names %q, which is no substrate", pattern, substrate)
					case cell.passed > 0:
						add("the exemption of %s on %s is not needed: a test checks the rule", rule, substrate)
					case cell.expected != "":
						add("the exemption of %s on %s is not needed: %s expects its refusal; "+
							"name the test for the rule", rule, substrate, cell.expected)
					case cell.why != "":
						add("%s is exempt twice on %s", rule, substrate)
					default:
						cell.why = e.why
					}
				}
			}
		}
	}
	return problems
}

// matching returns the rules that match a pattern of an exemption.
func (t *ruleTable) matching(pattern string) (rules []string) {
	prefix, group := strings.CutSuffix(pattern, "*")
	for _, rule := range t.rules {
		if rule == pattern || group && strings.HasPrefix(rule, prefix) {
			rules = append(rules, rule)
		}
	}
	return rules
}

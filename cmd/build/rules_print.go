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

// exemption is a group of rules that no test checks on some substrates. It ends by itself: a rule that a test there is
// named for, or whose refusal a test there expects, has to be taken out of the list.
type exemption struct {
	substrates string // names
	rules      string // ids; J-EXP-* stands for all that begin so
	why        string // a sentence
}

func (t *ruleTable) print() error { return t.report(os.Stdout) }

// report prints a line a rule, the sums, and what is wrong. Its error says how much is.
func (t *ruleTable) report(w io.Writer) error {
	problems := t.applyExemptions()
	for _, id := range slices.Sorted(maps.Keys(t.strange)) {
		problems = append(problems, fmt.Sprintf("%s is no rule; a test that carries it: %s", id, t.strange[id]))
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
		return errors.New("the rules are not all tested and kept: the table says which")
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

// applyExemptions writes the sentences into their cells and returns what is wrong with the exemptions themselves.
func (t *ruleTable) applyExemptions() (problems []string) {
	for _, e := range t.exempt {
		if e.why == "" {
			problems = append(problems, fmt.Sprintf("the exemption of %s says not why", e.rules))
		}
		for pattern := range strings.FieldsSeq(e.rules) {
			rules := t.matching(pattern)
			if len(rules) == 0 {
				problems = append(problems, fmt.Sprintf("the exemption of %s is of no rule", pattern))
			}
			for _, rule := range rules {
				for substrate := range strings.FieldsSeq(e.substrates) {
					cell := t.cells[[2]string{rule, substrate}]
					switch {
					case cell == nil:
						problems = append(problems, fmt.Sprintf("the exemption of %s names %q, which is no substrate", pattern, substrate))
					case cell.passed > 0:
						problems = append(problems, fmt.Sprintf("the exemption of %s on %s is not needed: a test checks it", rule, substrate))
					case cell.expected != "":
						problems = append(problems, fmt.Sprintf("the exemption of %s on %s is not needed: %s expects its refusal; "+
							"name the test for the rule", rule, substrate, cell.expected))
					case cell.why != "":
						problems = append(problems, fmt.Sprintf("%s is exempt twice on %s", rule, substrate))
					default:
						cell.why = e.why
					}
				}
			}
		}
	}
	return problems
}

// matching returns the rules that a word of an exemption stands for.
func (t *ruleTable) matching(pattern string) (rules []string) {
	prefix, group := strings.CutSuffix(pattern, "*")
	for _, rule := range t.rules {
		if rule == pattern || group && strings.HasPrefix(rule, prefix) {
			rules = append(rules, rule)
		}
	}
	return rules
}

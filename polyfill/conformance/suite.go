package conformance

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed testdata/*.txt
var files embed.FS

// Case is one example of the rules: a script with its expected transcript.
type Case struct {
	System     System
	Rules      []string // ids
	Title      string
	Script     Script
	Transcript string
	File       string
}

// Name is the name of the case's subtest: the ids, and a sentence.
func (c Case) Name() string { return strings.Join(c.Rules, " ") + " " + c.Title }

// Suite returns all cases. A case begins with a line
//
//	== fibers1 A-RESUME-1 A-STATE-2 a fiber that is over cannot be resumed
//
// of the system, the rules that it is about, and what they say; its transcript follows.
func Suite() ([]Case, error) {
	var cases []Case
	names, err := fs.Glob(files, "testdata/*.txt")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		parts := strings.Split("\n"+string(text), "\n== ")
		for _, part := range parts[1:] {
			c, err := parseCase(part)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			c.File = name
			cases = append(cases, c)
		}
	}
	return cases, nil
}

func parseCase(text string) (c Case, err error) {
	head, body, _ := strings.Cut(text, "\n")
	words := strings.Fields(head)
	if len(words) < 3 {
		return c, fmt.Errorf("%q: a case begins with a system, ids of rules and a sentence", head)
	}
	c.System = System(words[0])
	i := 1
	for i < len(words) && isRule(words[i]) {
		c.Rules = append(c.Rules, words[i])
		i++
	}
	c.Title = strings.Join(words[i:], " ")
	if len(c.Rules) == 0 || c.Title == "" {
		return c, fmt.Errorf("%q: no rule, or no sentence", head)
	}
	for _, line := range strings.SplitAfter(body, "\n") {
		if strings.TrimSpace(line) != "" && line[0] != '#' {
			c.Transcript += line
		}
	}
	c.Script, err = Parse(c.System, c.Transcript)
	if err != nil {
		return c, fmt.Errorf("%q: %w", head, err)
	}
	return c, nil
}

// isRule reports whether a word is the id of a rule (A-NEW-1, J-ID-2, K-2) or of an edge case (X-EDGE-12).
func isRule(word string) bool {
	return len(word) > 2 && strings.IndexByte("ABCDJKSX", word[0]) >= 0 && word[1] == '-' &&
		strings.ToUpper(word) == word
}

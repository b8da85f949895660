package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxWidth is the most columns that a line of source may have; a tab is tabWidth columns. Prettier has the same limit,
// but leaves long strings and comments alone; gofmt has none.
const (
	maxWidth = 120
	tabWidth = 4
)

// sourceSuffixes are the files that the limit holds for.
var sourceSuffixes = []string{".go", ".ts", ".js", ".mjs", ".wat", ".c", ".h", ".cpp", ".rs", ".s"}

// narrow fails, with every place, if a line of source is wider than maxWidth.
func narrow() error {
	var problems []string
	for _, suffix := range sourceSuffixes {
		files, err := sources(suffix)
		if err != nil {
			return err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for _, number := range wideLines(string(text)) {
				problems = append(problems, fmt.Sprintf("%s:%d", file, number))
			}
		}
	}
	if len(problems) == 0 {
		return nil
	}
	slices.Sort(problems)
	return fmt.Errorf("lines of more than %d columns (a tab is %d):\n%s", maxWidth, tabWidth,
		strings.Join(problems, "\n"))
}

// wideLines returns the numbers of the lines that are wider than maxWidth.
func wideLines(text string) (numbers []int) {
	for i, line := range strings.Split(text, "\n") {
		if width(line) > maxWidth {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

// width returns the number of columns of a line. Tabs count as tabWidth wherever they are.
func width(line string) int {
	return utf8.RuneCountInString(line) + (tabWidth-1)*strings.Count(line, "\t")
}

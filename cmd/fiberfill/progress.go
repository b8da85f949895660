package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// progress is a line at the bottom of a terminal that tells how many fibers are over. A nil one draws nothing.
type progress struct {
	mu           sync.Mutex // the handler of signals writes as well
	to           io.Writer
	width        int
	total        int
	over, failed int
	shown, ended bool
	drawn        time.Time
}

// drawEvery is how often the line is drawn at most: each drawing costs a system call.
const drawEvery = 100 * time.Millisecond

// showProgress sets up the line, if standard error is a terminal and there are several fibers. From here on, what is
// written to either stream appears above it.
func (r *run) showProgress() {
	file, ok := r.stderr.(*os.File)
	if !ok || r.fibers < 2 || r.quiet || !term.IsTerminal(int(file.Fd())) || os.Getenv("TERM") == "dumb" {
		return
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil || width < 1 {
		width = 80
	}
	r.bar = &progress{to: file, width: width, total: r.fibers}
	r.bar.draw()
	r.stdout, r.stderr = aboveProgress{r.bar, r.stdout}, aboveProgress{r.bar, r.stderr}
}

// advance counts a fiber that is over.
func (p *progress) advance(failed bool) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over++
	if failed {
		p.failed++
	}
	if time.Since(p.drawn) >= drawEvery {
		p.draw()
	}
}

// end takes the line away.
func (p *progress) end() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.ended = true
}

func (p *progress) draw() {
	if p.ended {
		return
	}
	io.WriteString(p.to, "\r\x1b[K"+p.line())
	p.shown, p.drawn = true, time.Now()
}

func (p *progress) clear() {
	if p.shown {
		io.WriteString(p.to, "\r\x1b[K")
		p.shown = false
	}
}

// line returns the line, one column narrower than the terminal: a full one would begin another.
func (p *progress) line() string {
	text := fmt.Sprintf(" %d of %d fibers are over", p.over, p.total)
	if p.failed > 0 {
		text += fmt.Sprintf(", %d failed", p.failed)
	}
	if length := min(30, p.width-1-len(text)-2); length >= 10 {
		full := length * p.over / p.total
		text = "[" + strings.Repeat("#", full) + strings.Repeat(".", length-full) + "]" + text
	}
	return text[:min(len(text), p.width-1)]
}

// aboveProgress writes to a stream of the same terminal.
type aboveProgress struct {
	bar *progress
	to  io.Writer
}

func (a aboveProgress) Write(bytes []byte) (int, error) {
	a.bar.mu.Lock()
	defer a.bar.mu.Unlock()
	a.bar.clear()
	n, err := a.to.Write(bytes)
	if len(bytes) > 0 && bytes[len(bytes)-1] == '\n' { // otherwise the cursor is not at the end of a line
		a.bar.draw()
	}
	return n, err
}

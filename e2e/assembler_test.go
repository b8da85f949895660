package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"sync"
)

// assembler is the assembler of jsglue's tests for pages. Binaryen is 15 MB of JavaScript, which each page would have
// to compile anew, so one process of Node has it for all of them. The process starts at the first request, and ends
// with this one, which holds its input.
type assembler struct {
	mu     sync.Mutex // the process answers in order
	in     io.Writer
	out    *bufio.Reader
	answer map[string][]byte // by request: the browsers ask for the same
}

var assembling assembler

// ServeHTTP answers the request of pages/assemble.js.
func (a *assembler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, err := io.ReadAll(r.Body)
	if err == nil {
		var answer []byte
		if answer, err = a.assemble(string(request)); err == nil {
			w.Write(answer)
			return
		}
	}
	http.Error(w, err.Error(), http.StatusInternalServerError)
}

func (a *assembler) assemble(request string) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if answer, ok := a.answer[request]; ok {
		return answer, nil
	}
	if a.in == nil {
		if err := a.start(); err != nil {
			return nil, fmt.Errorf("assembler: %w", err)
		}
	}
	if _, err := io.WriteString(a.in, request+"\n"); err != nil {
		return nil, fmt.Errorf("assembler: %w", err)
	}
	answer, err := a.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("assembler: %w", err)
	}
	a.answer[request] = answer
	return answer, nil
}

func (a *assembler) start() error {
	node := exec.Command("../node_modules/.bin/node", "testdata/assembler.mjs")
	node.Stderr = os.Stderr
	in, err := node.StdinPipe()
	if err != nil {
		return err
	}
	out, err := node.StdoutPipe()
	if err != nil {
		return err
	}
	if err := node.Start(); err != nil {
		return err
	}
	a.in, a.out, a.answer = in, bufio.NewReader(out), map[string][]byte{}
	return nil
}

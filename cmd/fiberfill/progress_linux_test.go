package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// On a terminal there is a line of progress below what is printed; at the end it is gone.
func TestProgress(t *testing.T) {
	server := serve(t)
	ours, theirs := terminal(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "run", "--fibers", "3", cGuest, "item",
		server.URL+"/hold?id={i}")
	cmd.Env = append(os.Environ(), "FIBERFILL_IS_THE_PROGRAM=1", "TERM=xterm")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, theirs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	for i := range 3 {
		if _, err := server.Await(t.Context(), func(s webserver.Stats) bool { return s.InFlight == 3-i }); err != nil {
			t.Fatal(err)
		}
		release(t, server, i)
	}
	var shown bytes.Buffer
	shown.ReadFrom(ours) // a terminal whose other end is closed ends with an error
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	const clear = "\r\x1b[K"
	for _, want := range []string{
		clear + "[..............................] 0 of 3 fibers are over", // before anything else
		clear + "item#1: log 2 ", // above the line
	} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("the terminal shows no %q in\n%q", want, shown.String())
		}
	}
	if !strings.HasSuffix(shown.String(), clear) {
		t.Errorf("a line of progress is left: %q", shown.String())
	}
	if strings.Contains(out.String(), "\x1b") || strings.Count(out.String(), "\n") != 3 {
		t.Errorf("printed %q", out.String())
	}
}

// terminal returns the two ends of a pseudo-terminal.
func terminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}

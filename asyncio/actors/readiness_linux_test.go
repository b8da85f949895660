package actors

import (
	"io"
	"os"
	"syscall"
	"testing"
)

// descriptors asks the system about real descriptors.
type descriptors struct{}

func (descriptors) Ready(fd int32, write bool) bool {
	var set syscall.FdSet
	set.Bits[fd/64] |= 1 << (fd % 64)
	read, written := &set, (*syscall.FdSet)(nil)
	if write {
		read, written = nil, &set
	}
	n, err := syscall.Select(int(fd)+1, read, written, nil, &syscall.Timeval{})
	return n > 0 || err != nil // select counts the end of the file and a hang-up as ready
}

// A guest reads what another writes, through a pipe of the system; then the writer hangs up.
func TestReal_descriptors_and_hang_up(t *testing.T) {
	t.Run("E-FD-3", func(t *testing.T) {
		from, to, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer from.Close()
		w := newWorld(t, Config{Readiness: descriptors{}})
		reader := w.guest(Stack32K, func(h *Host, m Message) int32 {
			for {
				if h.WaitFDReadable(int32(from.Fd()), 0) != 0 {
					t.Error("the wait without a limit has ended")
				}
				buf := make([]byte, 10)
				n, err := from.Read(buf)
				if err == io.EOF {
					w.note("end")
					return 1
				}
				w.note("read %s", buf[:n])
			}
		})
		writer := w.guest(Stack32K, func(h *Host, m Message) int32 {
			if h.WaitFDWritable(int32(to.Fd()), 0) != 0 {
				t.Error("the wait without a limit has ended")
			}
			to.WriteString("hello")
			h.SleepMs(10)
			to.Close()
			return 1
		})
		late := w.guest(Stack32K, func(h *Host, m Message) int32 {
			other, silent, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			defer silent.Close()
			w.note("nothing comes: %d", h.WaitFDReadable(int32(other.Fd()), 5))
			return 1
		})
		for _, id := range []ID{reader, writer, late} {
			w.from(id, 1, "")
		}
		w.steps(20)
		w.want("t=5 read hello", "t=8 nothing comes: -1", "t=16 end")
	})
}

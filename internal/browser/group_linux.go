package browser

import (
	"os/exec"

	"golang.org/x/sys/unix"
)

// group starts c in a process group of its own, which is killed as a whole. The kernel kills c when this process ends.
func group(c *exec.Cmd) {
	c.SysProcAttr = &unix.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	c.Cancel = func() error { return unix.Kill(-c.Process.Pid, unix.SIGKILL) }
}

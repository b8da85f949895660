// Command channels is the contestant "Go channels" of the benchmark (package bench), built for js/wasm.
//
// It sets the global function channels(workload, width, n, done), which runs a workload and calls done with its sum.
// The work is the same as in bench/js/guest.wat, with goroutines for fibers and channels for what they wait on.
package main

import "syscall/js"

func main() {
	js.Global().Set("channels", js.FuncOf(func(_ js.Value, args []js.Value) any {
		workload, width, n, done := args[0].String(), args[1].Int(), args[2].Int(), args[3]
		go func() { done.Invoke(run(workload, width, n)) }() // a callback from JavaScript must not block
		return nil
	}))
	select {}
}

func run(workload string, width, n int) int32 {
	switch workload {
	case "turns":
		return turns(width, n)
	case "calls":
		var sum int32
		for range n {
			hold(width)
			sum += release()
		}
		return sum
	case "hold":
		hold(width)
		return 0
	case "release":
		return release()
	case "compute":
		return compute(int32(width))
	}
	panic("channels: unknown workload " + workload)
}

// turns passes a token n times around a ring of goroutines. The goroutine with the token runs; all others wait on their
// channels. In a ring of one this goroutine is the partner.
func turns(width, n int) int32 {
	first := make(chan int32)
	last := first
	for range width {
		in, out := last, make(chan int32)
		go func() {
			for range n {
				out <- <-in + 1
			}
		}()
		last = out
	}
	var token int32
	for range n {
		first <- token
		token = <-last
	}
	return token
}

var (
	waiting []chan int32 // what each goroutine waits on
	results = make(chan int32)
)

// hold starts goroutines that wait, each on a channel of its own.
func hold(width int) {
	for range width {
		event := make(chan int32)
		waiting = append(waiting, event)
		go func() { results <- <-event + 1 }()
	}
}

// release sends each goroutine its event, out of order as in bench/js/waits.js, and returns the sum of their results.
func release() (sum int32) {
	n := len(waiting)
	step := 7919
	if n%step == 0 {
		step = 1
	}
	go func() {
		for i, at := 0, n>>1; i < n; i, at = i+1, (at+step)%n {
			waiting[at] <- int32(at*31 + 7)
		}
	}()
	for range n {
		sum += <-results
	}
	waiting = waiting[:0]
	return sum
}

var memory [8192]int32

func compute(n int32) int32 {
	x := uint32(2463534242)
	for ; n != 0; n-- {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		memory[x&0x7ffc>>2] = int32(x)
	}
	return int32(x)
}

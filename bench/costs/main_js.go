package main

import "syscall/js"

// main sets the global function costs(operation, n, done), which calls done with the sum, or with an error message.
func main() {
	js.Global().Set("costs", js.FuncOf(func(_ js.Value, args []js.Value) any {
		name, n, done := args[0].String(), args[1].Int(), args[2]
		go func() { // a callback from JavaScript must not block
			sum, err := operations[name](n)
			if err != nil {
				done.Invoke(err.Error())
				return
			}
			done.Invoke(sum)
		}()
		return nil
	}))
	select {}
}

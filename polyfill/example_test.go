package polyfill_test

import (
	"fmt"

	"github.com/fiberfill/fiberfill/polyfill"
)

// A child suspends its parent, and reappears when the parent is entered again.
func Example() {
	var m polyfill.Machine
	names := map[polyfill.Fiber]string{0: "root"}
	parent, child := m.New(), m.New()
	names[parent], names[child] = "parent", "child"

	say := func(what string, runs polyfill.Fiber, trap polyfill.Trap) {
		if trap != polyfill.OK {
			fmt.Printf("%s: refused, %v\n", what, trap)
			return
		}
		fmt.Printf("%s: %s runs\n", what, names[runs])
	}
	enter := func(f polyfill.Fiber) {
		runs, trap := m.Enter(f)
		say("enter "+names[f], runs, trap)
	}
	enter(parent)
	enter(child)
	runs, trap := m.Detach(parent)
	say("detach parent", runs, trap)
	fmt.Println("child is", m.State(child))
	enter(child)
	enter(parent)
	runs, trap = m.Return()
	say("return", runs, trap)
	// Output:
	// enter parent: parent runs
	// enter child: child runs
	// detach parent: root runs
	// child is carried
	// enter child: refused, fiber is not suspended
	// enter parent: child runs
	// return: parent runs
}

// A token is good for one suspension.
func ExampleMachine_Redeem() {
	var m polyfill.Machine
	f := m.New()
	first, _ := m.Mint(f)
	second, _ := m.Mint(f) // the first is stale now
	for _, token := range []polyfill.Token{first, second, second} {
		_, trap := m.Redeem(token)
		fmt.Println(trap)
	}
	// Output:
	// reference already consumed
	// no trap
	// reference already consumed
}

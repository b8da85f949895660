package main

import (
	"errors"
	"flag"
)

func reportCommand(*flag.FlagSet) func() error {
	return func() error { return errors.New("the headless report is not there yet") }
}

//go:build !js

package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/fiberfill/fiberfill/asyncio"
)

func main() {
	url := flag.String("url", "", "address of the items, to which the number of the item is appended: "+
		"http://host/item?id=")
	n := flag.Int("n", 10, "number of items")
	flag.Parse()
	if *url == "" || *n < 0 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *url, *n); err != nil {
		fmt.Fprintln(os.Stderr, "go-fetch:", err)
		os.Exit(1)
	}
}

// run fetches the items 0 to n-1, all at once, and prints them in order.
func run(ctx context.Context, out io.Writer, url string, n int) error {
	start := time.Now()
	values := make([]int, n)
	err := asyncio.Run(ctx, func(f *asyncio.Fiber) error {
		for i := range n {
			f.Go(fmt.Sprintf("item %d", i), func(f *asyncio.Fiber) (err error) {
				values[i], err = item(f, fmt.Sprint(url, i))
				return err
			})
		}
		return f.WaitAll()
	})
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	for i, v := range values {
		fmt.Fprintf(w, "item %d: %d\n", i, v)
	}
	fmt.Fprintf(w, "%d items in %v\n", n, time.Since(start).Round(time.Millisecond))
	return w.Flush()
}

module github.com/fiberfill/fiberfill

go 1.26

// What is built and installed is not ours to vet and test: the demo shows the source of a Go guest beside one in C, and
// packages from npm bring Go files of their own.
ignore (
	./node_modules
	./web/dist
)

require (
	github.com/andybalholm/brotli v1.2.8
	github.com/chromedp/cdproto v0.159.1
	github.com/chromedp/chromedp v0.22.1
	github.com/evanw/esbuild v0.28.2
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9
	github.com/tetratelabs/wazero v1.12.0
	golang.org/x/sys v0.44.0
	golang.org/x/term v0.43.0
)

require (
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
)

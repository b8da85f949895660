# Every target is one command of the build tool (go run ./cmd/build --help), which installs what it needs where it may.
# CI knows only these targets.

build := go run ./cmd/build

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' Makefile

build: ## web/dist: the script tag and the npm package, with their sizes
	$(build) bundle

test: ## everything: Go, wasm, TypeScript, browsers
	$(build) test

rules: ## what the tests say of each rule, on each substrate
	$(build) rules

mutate: ## break the code, one edit at a time, and show that tests notice; takes an hour
	go run ./internal/mutate

demo: ## build and serve the demo page; HEADLESS=1: run it in Chromium and print its table
	$(build) demo
	$(build) $(if $(filter-out 0,$(HEADLESS)),demo-report,serve)

docs: ## build the site into web/dist/site; BASE=/path/: the path that it is served at
	$(build) docs $(if $(BASE),-base $(BASE))

bench: ## measure against the alternatives in three engines, write docs/bench; QUICK=1: only the ratios, in 80 s
	$(build) bench $(if $(filter-out 0,$(QUICK)),-quick)

check: ## gofmt, go vet (also for the browser), TypeScript's checker, clean work tree
	$(build) check

core: ## rebuild jsglue/core/core.wasm with TinyGo
	$(build) core

core-check: ## rebuild the core and compare it with the committed file
	$(build) core -check

guests: ## rebuild the wasm of the C and WAT sources
	$(build) guests

guests-check: ## rebuild the guests and compare them with the committed files
	$(build) guests -check

clean: ## remove what is built (not what is installed: .cache, node_modules)
	rm -rf web/dist

.PHONY: help build test rules mutate demo docs bench check core core-check guests guests-check clean

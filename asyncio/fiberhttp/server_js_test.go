package fiberhttp_test

import (
	"net/http"
	"os"
	"testing"
)

func serve(testing.TB) string { return os.Getenv("FIBERHTTP_SERVER") }

func base(testing.TB) http.RoundTripper { return nil }

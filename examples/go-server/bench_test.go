package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/guest"
)

// at knows every price at once.
type at int32

func (p at) Price(context.Context, string) (int32, error) { return int32(p), nil }

// BenchmarkTotal is one request for a total of two items, by the guest and by a handler of Go that does the same, with
// a database that answers at once, and without a connection.
func BenchmarkTotal(b *testing.B) {
	request := func(b *testing.B, h http.Handler) {
		b.ReportAllocs()
		b.SetParallelism(50)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest("GET", "/total?items=tea,scones", nil))
				if w.Body.String() != "6.40\n" {
					b.Errorf("answered %q", w.Body)
				}
			}
		})
	}
	b.Run("guest", func(b *testing.B) {
		ctx, stop := context.WithCancel(b.Context())
		instance, err := guest.New(ctx, binary, guest.Options{Name: "total.wasm", Imports: shop(at(320))})
		if err != nil {
			b.Fatal(err)
		}
		served := make(chan error, 1)
		go func() { served <- instance.Serve() }()
		request(b, handler(instance))
		stop()
		<-served
		instance.Close()
	})
	b.Run("Go", func(b *testing.B) {
		request(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			total := int32(0)
			for item := range strings.SplitSeq(r.FormValue("items"), ",") {
				price, _ := at(320).Price(r.Context(), item)
				total += price
			}
			fmt.Fprintf(w, "%d.%02d\n", total/100, total%100)
		}))
	})
}

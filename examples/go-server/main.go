// Command go-server answers HTTP requests by a wasm guest: one instance for all, a fiber for each request. While a
// request waits for the database, the others go on; a client that goes away cancels its fiber.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/guest"
)

//go:embed wasm/total.wasm
var binary []byte

func main() {
	address := flag.String("address", "127.0.0.1:8080", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", *address)
	if err == nil {
		fmt.Printf("try: curl 'http://%s/total?items=tea,scones'\n", listener.Addr())
		err = serve(ctx, listener, prices{"tea": 320, "scones": 450, "jam": 180})
	}
	if err != nil {
		log.Fatal(err)
	}
}

// A database answers a query in its own time. It blocks in Go's own way, as database/sql does.
type database interface {
	Price(ctx context.Context, item string) (int32, error)
}

// serve answers requests until ctx is done.
func serve(ctx context.Context, listener net.Listener, db database) error {
	instance, err := guest.New(ctx, binary, guest.Options{Name: "total.wasm", Imports: shop(db)})
	if err != nil {
		return err
	}
	defer instance.Close()

	server := &http.Server{Handler: handler(instance)}
	stop := context.AfterFunc(ctx, func() { server.Shutdown(context.WithoutCancel(ctx)) })
	defer stop()
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	instance.Serve() // until ctx is done; by then no request is under way
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// writerKey is the key of the [http.ResponseWriter] in the context of a request.
type writerKey struct{}

// handler answers /total?items=... by a call of the guest's export total. The call is cancelled with the request.
func handler(instance *guest.Guest) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /total", func(w http.ResponseWriter, r *http.Request) {
		ctx := context.WithValue(r.Context(), writerKey{}, w)
		_, err := instance.Call(ctx, "total", r.FormValue("items"))
		var trap *guest.TrapError
		switch {
		case err == nil:
		case errors.As(err, &trap):
			log.Print(err)
			http.Error(w, "something is wrong here", http.StatusInternalServerError)
		default:
			http.Error(w, err.Error(), http.StatusNotFound)
		}
	})
	return mux
}

// shop are the functions that the guest imports.
func shop(db database) guest.Imports {
	return guest.Imports{"shop": {
		"price": func(f *guest.Fiber, item string) (int32, error) {
			return asyncio.Block(f, func(ctx context.Context) (int32, error) { return db.Price(ctx, item) })
		},
		"write": func(c *guest.Call, text []byte) error {
			_, err := c.Value(writerKey{}).(http.ResponseWriter).Write(text)
			return err
		},
	}}
}

// prices is a database that takes ten milliseconds for an answer.
type prices map[string]int32

func (p prices) Price(ctx context.Context, item string) (int32, error) {
	select {
	case <-time.After(10 * time.Millisecond):
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	price, ok := p[item]
	if !ok {
		return 0, fmt.Errorf("there is no %q", item)
	}
	return price, nil
}

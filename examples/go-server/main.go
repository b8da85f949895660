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

// grace is how long the requests that are under way when the server ends may take.
var grace = time.Second

var errClosing = errors.New("the server is closing")

// serve answers requests until ctx is done, or the listener fails. Requests that are under way then get their answers,
// or, when the grace is over, errClosing.
func serve(ctx context.Context, listener net.Listener, db database) error {
	calls, end := context.WithCancelCause(context.WithoutCancel(ctx)) // they outlive ctx
	instance, err := guest.New(calls, binary, guest.Options{Name: "total.wasm", Imports: shop(db)})
	if err != nil {
		end(nil)
		return err
	}
	server := &http.Server{Handler: handler(instance)}
	served, over := make(chan error, 1), make(chan struct{})
	go func() { served <- server.Serve(listener) }()
	go func() { instance.Serve(); close(over) }()
	select {
	case err = <-served:
	case <-ctx.Done():
		last, stop := context.WithTimeout(calls, grace)
		if server.Shutdown(last) != nil {
			end(errClosing)
			err = server.Shutdown(context.WithoutCancel(ctx))
		}
		stop()
	}
	end(errClosing)
	<-over
	instance.Close()
	return err
}

// writerKey is the key of the [http.ResponseWriter] in the context of a request.
type writerKey struct{}

// handler answers /total?items=... by a call of the guest's export total. The call is cancelled with the request.
func handler(instance *guest.Guest) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /total", func(w http.ResponseWriter, r *http.Request) {
		ctx := context.WithValue(r.Context(), writerKey{}, w)
		_, err := instance.Call(ctx, "total", r.FormValue("items"))
		var item unknownItem
		switch {
		case err == nil, r.Context().Err() != nil: // the latter: the client has gone
		case errors.As(err, &item):
			http.Error(w, item.Error(), http.StatusNotFound)
		case errors.Is(err, errClosing):
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		default: // a trap, for instance; if the guest is damaged, each further request comes here
			log.Print(err)
			http.Error(w, "something is wrong here", http.StatusInternalServerError)
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

// An unknownItem is an item that has no price.
type unknownItem string

func (i unknownItem) Error() string { return fmt.Sprintf("there is no %q", string(i)) }

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
		return 0, unknownItem(item)
	}
	return price, nil
}

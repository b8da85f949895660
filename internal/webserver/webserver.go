// Package webserver is the HTTP server behind the demo page and the end-to-end tests.
//
// It is a real server on a real socket, so a fiber that waits for it waits for the network. Unlike an ordinary server,
// its misbehaviour is repeatable and chosen by the client: the numbers in a request determine how long the response
// takes and whether it fails.
//
//	GET  /item?id=N&ms=MEAN&fail=PERCENT&seed=S   one item as JSON after [Latency]; HTTP 500 where [Fails] says so
//	GET  /cut?id=N&ms=MEAN&seed=S                 the same, but the connection is cut in the middle of the body
//	GET  /never                                   no answer at all, until the client goes away
//	GET  /hold?id=N                               the item, once it has been released: the client chooses the order
//	POST /release?id=N                            releases the item N, whether it is being asked for already or not
//	GET  /stats                                   [Stats] as JSON
//	POST /report                                  hands its body to [Server.Report]; how a page in a browser without
//	                                              a debugger attached tells its result
//
// Everything else is up to [Options.Handlers], or is looked up in the file trees of [Options.Files].
package webserver

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
)

// Options says which files a server serves, apart from its own routes, and with which headers. The zero value serves no
// files.
type Options struct {
	// Files maps a URL path prefix to the tree served below it: "/" or, with both slashes, "/examples/". The longest
	// prefix wins.
	Files map[string]fs.FS

	// Handlers are more routes, by the pattern of [http.ServeMux].
	Handlers map[string]http.Handler

	// ContentSecurityPolicy is sent with every file when it is not empty. (A policy in a <meta> tag would not govern
	// workers.)
	ContentSecurityPolicy string

	// CrossOriginIsolated sends the two headers that make a page cross-origin isolated, which gives it
	// SharedArrayBuffer and a finer performance.now. It is off by default, because most users' pages are not isolated.
	CrossOriginIsolated bool
}

// Server is one running server. Its methods may be called from any goroutine.
type Server struct {
	// URL is the server's origin, "http://127.0.0.1:PORT", without a slash at the end.
	URL string

	traffic traffic
	held    held
	reports chan []byte
	ended   chan struct{}
	err     error // why serving ended early; read after ended is closed
}

// Start listens on a port of the loopback interface, chosen by the system, and serves until ctx is done. Then it closes
// every connection, even those that still wait for a response. An error means that it could not listen, or that a
// prefix in opt.Files is not of the form "/" or "/name/".
func Start(ctx context.Context, opt Options) (*Server, error) {
	s := &Server{reports: make(chan []byte), ended: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /item", s.item)
	mux.HandleFunc("GET /cut", s.cut)
	mux.HandleFunc("GET /never", s.never)
	mux.HandleFunc("GET /hold", s.hold)
	mux.HandleFunc("POST /release", s.release)
	mux.HandleFunc("GET /stats", s.stats)
	mux.HandleFunc("POST /report", s.report)
	for pattern, handler := range opt.Handlers {
		mux.Handle(pattern, handler)
	}
	for prefix, tree := range opt.Files {
		if prefix == "" || prefix[0] != '/' || prefix[len(prefix)-1] != '/' {
			return nil, fmt.Errorf("webserver: files prefix %q does not begin and end with a slash", prefix)
		}
		mux.Handle("GET "+prefix, http.StripPrefix(prefix[:len(prefix)-1], files(tree, opt)))
	}

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("webserver: listen on loopback: %w", err)
	}
	s.URL = "http://" + listener.Addr().String()

	// Requests inherit ctx, so waiting handlers return when the server ends, not only when their client leaves.
	server := &http.Server{Handler: mux, BaseContext: func(net.Listener) context.Context { return ctx }}
	stop := context.AfterFunc(ctx, func() {
		server.Close()
		// The system may give the port to the next server at once: this process must keep no connections to it.
		http.DefaultClient.CloseIdleConnections()
	})
	go func() {
		err := server.Serve(listener) // always an error; ErrServerClosed after Close
		if ctx.Err() == nil {
			s.err = fmt.Errorf("webserver: serve: %w", err)
		}
		stop()
		close(s.ended)
	}()
	return s, nil
}

// Wait waits until the server has ended. It returns nil after its context was done, else the reason. It may be called
// repeatedly.
func (s *Server) Wait() error {
	<-s.ended
	return s.err
}

// Report waits for the next POST to /report and returns its body. Each body is returned once; the client gets its
// response then. The error wraps ctx's, or says that the server has ended.
func (s *Server) Report(ctx context.Context) ([]byte, error) {
	select {
	case body := <-s.reports:
		return body, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("webserver: no report arrived: %w", context.Cause(ctx))
	case <-s.ended:
		return nil, fmt.Errorf("webserver: the server ended before a report arrived")
	}
}

func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	const limit = 1 << 20
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	select {
	case s.reports <- body:
		w.WriteHeader(http.StatusNoContent)
	case <-r.Context().Done():
		dropConnection()
	}
}

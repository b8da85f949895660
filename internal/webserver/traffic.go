package webserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
)

// Stats counts the requests to /item, /cut, /hold and /never since the server started. Requests for files, and requests
// refused for their query, are not counted.
type Stats struct {
	Requests     int `json:"requests"`     // that arrived
	InFlight     int `json:"inFlight"`     // that wait for their response now
	MostInFlight int `json:"mostInFlight"` // the largest InFlight so far
	Abandoned    int `json:"abandoned"`    // whose client went away before the response
}

// traffic keeps the counts and notifies waiters of changes.
type traffic struct {
	mu      sync.Mutex
	now     Stats
	changed chan struct{} // closed at the next change; nil while nobody waits
}

type ending int

const (
	answered ending = iota
	abandoned
)

func (t *traffic) enter() {
	t.update(func(s *Stats) {
		s.Requests++
		s.InFlight++
		s.MostInFlight = max(s.MostInFlight, s.InFlight)
	})
}

func (t *traffic) leave(how ending) {
	t.update(func(s *Stats) {
		s.InFlight--
		if how == abandoned {
			s.Abandoned++
		}
	})
}

func (t *traffic) update(change func(*Stats)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.now)
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}

func (t *traffic) watch() (Stats, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changed == nil {
		t.changed = make(chan struct{})
	}
	return t.now, t.changed
}

// Stats returns the current counts. A response may reach the client an instant before its request stops counting as in
// flight; use [Server.Await] to wait for a state.
func (s *Server) Stats() Stats {
	now, _ := s.traffic.watch()
	return now
}

// Await blocks until enough returns true for the counts, and returns those counts. With it a test waits for "the
// request has arrived" or "the client has gone" without guessing a time. If ctx ends first, Await returns the last
// counts and an error that wraps ctx's.
func (s *Server) Await(ctx context.Context, enough func(Stats) bool) (Stats, error) {
	for {
		now, changed := s.traffic.watch()
		if enough(now) {
			return now, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return now, fmt.Errorf("webserver: the awaited traffic did not come, last seen %+v: "+
				"%w", now, context.Cause(ctx))
		}
	}
}

func (s *Server) stats(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	json.NewEncoder(w).Encode(s.Stats())
}

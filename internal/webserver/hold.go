package webserver

import (
	"fmt"
	"net/http"
	"sync"
)

// held are the items of /hold that were requested or released. A test of an order must not rely on latencies: it holds
// all responses and releases them one by one.
type held struct {
	mu    sync.Mutex
	gates map[uint64]chan struct{} // by id; closed, for good, when the item is released
}

func (h *held) gate(id uint64) chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gates == nil {
		h.gates = map[uint64]chan struct{}{}
	}
	if h.gates[id] == nil {
		h.gates[id] = make(chan struct{})
	}
	return h.gates[id]
}

func (h *held) open(id uint64) {
	gate := h.gate(id)
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-gate: // released already
	default:
		close(gate)
	}
}

// hold serves /hold.
func (s *Server) hold(w http.ResponseWriter, r *http.Request) {
	q, err := parseQuery(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.traffic.enter()
	select {
	case <-s.held.gate(q.id):
	case <-r.Context().Done():
		s.traffic.leave(abandoned)
		dropConnection()
	}
	defer s.traffic.leave(answered)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if Fails(q.seed, q.id, q.fail) {
		http.Error(w, fmt.Sprintf("item %d fails", q.id), http.StatusInternalServerError)
		return
	}
	fmt.Fprint(w, q.body())
}

// release serves /release.
func (s *Server) release(w http.ResponseWriter, r *http.Request) {
	q, err := parseQuery(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.held.open(q.id)
	w.WriteHeader(http.StatusNoContent)
}

package webserver

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Value returns the value of the item with the given id: /item responds with it, and tests expect it.
func Value(id uint64) uint64 {
	return (id*2654435761 + 12345) % 1000003
}

// Latency returns how long the server waits before it responds for id: between half of mean and one and a half times
// mean, evenly spread over the ids. It depends only on seed, id and mean.
func Latency(seed, id uint64, mean time.Duration) time.Duration {
	if mean <= 0 {
		return 0
	}
	return mean/2 + time.Duration(mix(seed, id, 1)%uint64(mean+1))
}

// Fails reports whether /item responds with HTTP 500 for id when percent of all ids should fail. It depends only on its
// arguments, and an id that fails at one percentage fails at every higher one.
func Fails(seed, id, percent uint64) bool {
	return mix(seed, id, 2)%100 < percent
}

// mix spreads its arguments over 64 bits (the finaliser of SplitMix64). Latency and failure use different salts;
// otherwise the slow ids would be the ones that fail.
func mix(seed, id, salt uint64) uint64 {
	x := seed*0x9E3779B97F4A7C15 + id*0xD1B54A32D192ED03 + salt
	x ^= x >> 30
	x *= 0xBF58476D1CE4E5B9
	x ^= x >> 27
	x *= 0x94D049BB133111EB
	return x ^ x>>31
}

// query holds the client's choices.
type query struct {
	id, seed, fail uint64
	mean           time.Duration
}

// maxMean bounds the cost of a mistyped latency, and keeps the arithmetic from overflowing.
const maxMean = 10 * time.Minute

func parseQuery(values url.Values) (q query, err error) {
	number := func(name string) uint64 {
		text := values.Get(name)
		if text == "" || err != nil {
			return 0
		}
		n, e := strconv.ParseUint(text, 10, 64)
		if e != nil {
			err = fmt.Errorf("%s=%s is not a whole number", name, text)
		}
		return n
	}
	if !values.Has("id") {
		return q, fmt.Errorf("the id is missing: ask for ?id=N")
	}
	q.id, q.seed, q.fail = number("id"), number("seed"), number("fail")
	ms := number("ms")
	if err == nil && q.fail > 100 {
		err = fmt.Errorf("fail=%d is more than 100 percent", q.fail)
	}
	if err == nil && ms > uint64(maxMean/time.Millisecond) {
		err = fmt.Errorf("ms=%d is more than %v", ms, maxMean)
	}
	q.mean = time.Duration(ms) * time.Millisecond
	return q, err
}

func (q query) body() string {
	return fmt.Sprintf("{\"id\":%d,\"value\":%d,\"title\":\"Item %d\"}\n", q.id, Value(q.id), q.id)
}

// item serves /item.
func (s *Server) item(w http.ResponseWriter, r *http.Request) {
	q, ok := s.delay(w, r)
	if !ok {
		return
	}
	defer s.traffic.leave(answered)
	if Fails(q.seed, q.id, q.fail) {
		http.Error(w, fmt.Sprintf("item %d fails, as %d percent do with seed %d", q.id, q.fail, q.seed),
			http.StatusInternalServerError)
		return
	}
	fmt.Fprint(w, q.body())
}

// cut serves /cut: it announces the whole body, sends half of it and closes the connection. It flushes the half,
// because a browser may retry a connection that closes before the headers came.
func (s *Server) cut(w http.ResponseWriter, r *http.Request) {
	q, ok := s.delay(w, r)
	if !ok {
		return
	}
	defer s.traffic.leave(answered)
	body := q.body()
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	fmt.Fprint(w, body[:len(body)/2])
	http.NewResponseController(w).Flush()
	dropConnection()
}

// never serves /never.
func (s *Server) never(w http.ResponseWriter, r *http.Request) {
	s.traffic.enter()
	defer s.traffic.leave(abandoned)
	<-r.Context().Done()
	dropConnection()
}

// dropConnection does not return. A handler that just returned would respond with 200 and an empty body; that matters
// when the server ends while a client still waits.
func dropConnection() {
	panic(http.ErrAbortHandler) // net/http's only way to do this; it is not logged
}

// delay reads the query, counts the request as in flight and waits for its latency. If it returns true, the caller
// responds and leaves the traffic. If it returns false, delay has refused the query and responded. It does not return
// if the client went away.
func (s *Server) delay(w http.ResponseWriter, r *http.Request) (query, bool) {
	q, err := parseQuery(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return q, false
	}
	s.traffic.enter()
	timer := time.NewTimer(Latency(q.seed, q.id, q.mean))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
		s.traffic.leave(abandoned)
		dropConnection()
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	return q, true
}

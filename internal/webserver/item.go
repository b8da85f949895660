package webserver

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Value returns the value of the item with the given id: what /item answers, and what a test expects.
func Value(id uint64) uint64 {
	return (id*2654435761 + 12345) % 1000003
}

// Latency returns how long the server waits before it answers for id: between half of mean and one and a half times
// mean, evenly spread over the ids, and always the same for the same seed, id and mean.
func Latency(seed, id uint64, mean time.Duration) time.Duration {
	if mean <= 0 {
		return 0
	}
	return mean/2 + time.Duration(mix(seed, id, 1)%uint64(mean+1))
}

// Fails reports whether /item answers HTTP 500 for id when percent of all ids shall fail. It is always the same for the
// same seed, id and percent, and an id that fails at one percentage fails at every higher one.
func Fails(seed, id, percent uint64) bool {
	return mix(seed, id, 2)%100 < percent
}

// mix spreads its arguments over 64 bits (the finaliser of SplitMix64). Latency and failure use different salts, else
// the slow ids would be the ones that fail.
func mix(seed, id, salt uint64) uint64 {
	x := seed*0x9E3779B97F4A7C15 + id*0xD1B54A32D192ED03 + salt
	x ^= x >> 30
	x *= 0xBF58476D1CE4E5B9
	x ^= x >> 27
	x *= 0x94D049BB133111EB
	return x ^ x>>31
}

// query is what the client chose.
type query struct {
	id, seed, fail uint64
	mean           time.Duration
}

// maxMean bounds what a mistyped latency can cost; above it the arithmetic could also overflow.
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

// item answers for /item.
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

// cut answers for /cut: it promises the whole body, sends half of it and closes the connection. The half is flushed,
// because a connection that closes before the headers came may be retried by a browser, which would not be a cut.
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

// never answers for /never.
func (s *Server) never(w http.ResponseWriter, r *http.Request) {
	s.traffic.enter()
	defer s.traffic.leave(abandoned)
	<-r.Context().Done()
	dropConnection()
}

// dropConnection does not return. A handler that just returned would have answered 200, with an empty body; that
// matters when the server ends while a client still waits.
func dropConnection() {
	panic(http.ErrAbortHandler) // the one way of net/http; it is not logged
}

// delay reads the query, counts the request as in flight and waits its latency. When it returns true the caller answers
// and leaves the traffic; when false the query was refused and that is answered. It does not return if the client went
// away.
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

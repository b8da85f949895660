package webserver

import (
	"io/fs"
	"net/http"
	"path"
)

// The media types are listed here and not asked of the system, whose tables differ from machine to machine:
// WebAssembly.instantiateStreaming and module scripts refuse a file of the wrong type.
var mediaTypes = map[string]string{
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".map":  "application/json",
	".md":   "text/plain; charset=utf-8",
	".mjs":  "text/javascript; charset=utf-8",
	".png":  "image/png",
	".svg":  "image/svg+xml",
	".ts":   "text/plain; charset=utf-8",
	".txt":  "text/plain; charset=utf-8",
	".wasm": "application/wasm",
	".wat":  "text/plain; charset=utf-8",
}

func files(tree fs.FS, opt Options) http.Handler {
	server := http.FileServerFS(tree)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Server", "fiberfill") // tells a page that /item is here, too
		if t, ok := mediaTypes[path.Ext(r.URL.Path)]; ok {
			h.Set("Content-Type", t) // the file server keeps a type that is set already
		}
		// A page that was just rebuilt must not meet the script of an hour ago.
		h.Set("Cache-Control", "no-cache")
		if opt.ContentSecurityPolicy != "" {
			h.Set("Content-Security-Policy", opt.ContentSecurityPolicy)
		}
		if opt.CrossOriginIsolated {
			h.Set("Cross-Origin-Opener-Policy", "same-origin")
			h.Set("Cross-Origin-Embedder-Policy", "require-corp")
		}
		server.ServeHTTP(w, r)
	})
}

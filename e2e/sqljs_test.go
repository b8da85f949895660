package e2e_test

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// withSQLite serves the files that the sql.js pages load, at the same paths as in the repository.
func withSQLite(o *webserver.Options) {
	o.Files["/node_modules/"] = os.DirFS("../node_modules")
	o.Files["/web/dist/"] = os.DirFS("../web/dist")
}

// A module from npm, through Emscripten's own glue: SQLite reads a database page by page over HTTP. While it waits in
// the middle of a read, other fibers run.
func TestSQLiteOverHTTP(t *testing.T) {
	type result struct {
		Waiting []string
		Items   []uint64
		Rows    []struct {
			Value uint64
			Title string
		}
		Traffic struct{ Size, Requests, Received int64 }
	}
	check := func(t *testing.T, got result) {
		t.Helper()
		if want := []string{"waiting wasi_snapshot_preview1.fd_read"}; !slices.Equal(got.Waiting, want) {
			t.Errorf("while the query waits the fibers are %q, want %q", got.Waiting, want)
		}
		expectItems(t, "the C guest meanwhile", got.Items, 5)
		if len(got.Rows) != 1 || got.Rows[0].Value != webserver.Value(17) || got.Rows[0].Title != "Item 17" {
			t.Errorf("the rows are %+v", got.Rows)
		}
		file, err := fs.Stat(os.DirFS("../examples/sqljs"), "items.sqlite")
		if err != nil {
			t.Fatal(err)
		}
		if got.Traffic.Size != file.Size() || got.Traffic.Requests == 0 || got.Traffic.Received == 0 ||
			got.Traffic.Received > file.Size()/8 {
			t.Errorf("traffic for one row: %+v", got.Traffic)
		}
	}
	t.Run("Chromium", func(t *testing.T) {
		var got result
		open(t, "sqljs.html", policy, withSQLite).Eval(t, `sqljs.run`, &got)
		check(t, got)
	})
	inOthers(t, "sqljs.html", "sqljs.run", check, policy, withSQLite)
}

// The unchanged page of the example.
func TestSQLitePage(t *testing.T) {
	tab := open(t, "examples/sqljs/index.html", policy, withSQLite)
	// Runs a query as a user would, and returns what the page then shows.
	const ask = `async (sql) => {
		const output = document.querySelector("output");
		const shown = () => new Promise((resolve) => {
			if (output.value) return resolve();
			const observer = new MutationObserver(() => { observer.disconnect(); resolve(); });
			observer.observe(output, { childList: true });
		});
		await shown(); // the page's own first query
		if (sql) {
			document.querySelector("textarea").value = sql;
			output.value = "";
			document.querySelector("button").click();
			await shown();
		}
		const text = (row) => Array.from(row.cells, (cell) => cell.textContent).join("|");
		return [output.value, ...Array.from(document.querySelectorAll("tr"), text)];
	}`
	for _, c := range []struct{ sql, output, rows string }{
		{"", "requests brought 8208 of the file's 67584 bytes",
			"id|value|title\n1863|999494|Item 1863\n1309|999559|Item 1309\n755|999624|Item 755\n201|999689|Item 201"},
		{"SELECT count(*) AS n FROM items", "of the file's", "n\n2000"},
		{"SELECT author FROM items", "no such column: author", ""},
	} {
		var got []string
		tab.Eval(t, ask, &got, c.sql)
		if !strings.Contains(got[0], c.output) || strings.Join(got[1:], "\n") != c.rows {
			t.Errorf("%q shows %q", c.sql, got)
		}
	}
}

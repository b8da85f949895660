package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The plots are SVG written by hand: bars and lines over logarithmic axes need less code than a library's options. They
// have their own background, in the reader's colour scheme, so they are readable everywhere.

const plotStyle = `<style>
svg{background:#fff;color:#1f2328;font:13px system-ui,sans-serif}text{fill:currentColor}.dim{opacity:.65}
.grid{stroke:currentColor;opacity:.18}
.fiberfill{--c:#0b62d6}.raw{--c:#b3480a}.ring{--c:#a01f6e}.asyncify{--c:#197a4b}.await{--c:#6b6b6b}
.channels,.go{--c:#0a7f8f}.wazero{--c:#a01f6e}
rect{fill:var(--c)}path,polyline{stroke:var(--c);fill:none;stroke-width:2}circle{fill:var(--c)}
polyline.fiberfill{stroke-width:3.5}
@media(prefers-color-scheme:dark){svg{background:#0d1117;color:#e6edf3}
.fiberfill{--c:#58a6ff}.raw{--c:#f0883e}.ring{--c:#f778ba}.asyncify{--c:#56d364}.await{--c:#b1bac4}
.channels,.go{--c:#39c5cf}.wazero{--c:#f778ba}}
</style>
`

func svg(width, height int, title, body string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" `+
		`aria-label="%s">
%s<rect width="100%%" height="100%%" style="fill:none"/><text x="16" y="24" font-weight="600" font-size="15">%s</text>
%s</svg>
`, width, height, width, height, title, plotStyle, title, body)
}

// bar is one bar; mark is written behind its figure.
type bar struct {
	contestant, mark string
	value            float64
}

// bars draws a panel of bars for each engine, one above the other, on one logarithmic scale.
func bars(title string, panels map[string][]bar) string {
	const left, right, row, width = 170, 150, 22, 800
	low, high := math.Inf(1), 0.0
	for _, list := range panels {
		for _, b := range list {
			low, high = min(low, b.value), max(high, b.value)
		}
	}
	low = math.Pow(10, math.Floor(math.Log10(low)))
	scale := func(v float64) float64 {
		return math.Log10(v/low) / math.Log10(high/low) * (width - left - right)
	}
	var body strings.Builder
	y := 44
	for _, host := range append([]string{"native"}, engines...) {
		if len(panels[host]) == 0 {
			continue
		}
		fmt.Fprintf(&body, "<text x=\"16\" y=\"%d\" font-weight=\"600\">%s</text>\n", y+10, labels[host])
		y += 20
		for _, b := range panels[host] {
			length := max(scale(b.value), 2)
			fmt.Fprintf(&body,
				"<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text><rect class=\"%s\" x=\"%d\" y=\"%d\" "+
					"width=\"%.1f\" height=\"%d\" rx=\"2\"/><text x=\"%.1f\" y=\"%d\">%s%s</text>\n",
				left-8, y+13, labels[b.contestant], b.contestant, left, y+2, length, row-6, left+length+6, y+13,
				short(b.value), b.mark)
			y += row
		}
		y += 10
	}
	return svg(width, y+8, title, body.String())
}

func plotSwitch(r *Results, t table) string {
	panels := map[string][]bar{}
	for _, host := range engines {
		for _, c := range t.rows {
			if v, ok := r.Value(host, "switch-10", c); ok {
				panels[host] = append(panels[host], bar{c, "", v})
			}
		}
	}
	return bars("ns a yield among 10 fibers (logarithmic)", panels)
}

func plotReach(r *Results) string {
	panels := map[string][]bar{}
	for _, host := range engines {
		for _, c := range callers {
			if end, ok := r.ends[key{host, "calls", c}]; ok && end.Count > 0 {
				mark := end.How
				if mark == stopped {
					mark = " or more"
				}
				panels[host] = append(panels[host], bar{c, string(mark), float64(end.Count)})
			}
		}
	}
	return bars("calls that one process bears, in waves of 1,000 (logarithmic; † it died, ‡ it hung)", panels)
}

// plotStart draws a panel of lines for each engine, side by side, over how many calls are made at once.
func plotStart(r *Results, t table) string {
	const left, top, width, height, gap = 56, 92, 215, 240, 50
	low, high := math.Inf(1), 0.0
	for _, host := range engines {
		for _, name := range t.names {
			for _, c := range t.rows {
				if v, ok := r.Value(host, name, c); ok {
					low, high = min(low, v/t.per), max(high, v/t.per)
				}
			}
		}
	}
	first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	yOf := func(v float64) float64 { return top + height*(1-(math.Log10(v)-first)/(last-first)) }
	xOf := func(panel, i int) float64 {
		return float64(left + panel*(width+gap) + i*width/(len(t.names)-1))
	}
	var body strings.Builder
	for i, c := range t.rows {
		x := 16 + i*130
		fmt.Fprintf(&body,
			"<rect class=\"%s\" x=\"%d\" y=\"40\" width=\"12\" height=\"12\" rx=\"2\"/><text x=\"%d\" "+
				"y=\"51\">%s</text>\n", c, x, x+18, labels[c])
	}
	for e := first; e <= last; e++ {
		y := yOf(math.Pow(10, e))
		fmt.Fprintf(&body,
			"<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"%d\" y=\"%.1f\" "+
				"text-anchor=\"end\">%g</text>\n",
			left, left+3*width+2*gap, y, y, left-8, y+4, math.Pow(10, e))
	}
	for panel, host := range engines {
		fmt.Fprintf(&body, "<text x=\"%.1f\" y=\"%d\" "+
			"font-weight=\"600\">%s</text>\n", xOf(panel, 0), top-14, labels[host])
		for i := range t.names {
			fmt.Fprintf(&body,
				"<text class=\"dim\" font-size=\"11\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
				xOf(panel, i), top+height+18, thousands(waves[i]))
		}
		for _, c := range slices.Backward(t.rows) { // fiberfill last, above the others
			var points, dots strings.Builder
			for i, name := range t.names {
				if v, ok := r.Value(host, name, c); ok {
					x, y := xOf(panel, i), yOf(v/t.per)
					fmt.Fprintf(&points, "%.1f,%.1f ", x, y)
					fmt.Fprintf(&dots, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>", c, x, y)
				}
			}
			fmt.Fprintf(&body, "<polyline class=\"%s\" "+
				"points=\"%s\"/>%s\n", c, strings.TrimSpace(points.String()), dots.String())
		}
	}
	return svg(left+3*width+2*gap+30, top+height+34,
		"µs a call that waits once, warm, by how many are made at once (both logarithmic)", body.String())
}

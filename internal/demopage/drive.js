// Drives the demo page through its controls, as a visitor does. The page is a window, so that a frame can be driven
// too.

// Resolves when nothing is under way in the page, neither what it has started by itself nor the run on raw JSPI.
async function idle(page) {
  const busy = () => page.document.getElementById("timeline")?.getAttribute("aria-busy") !== "false";
  while (busy()) await new Promise((resolve) => page.requestAnimationFrame(resolve));
}

// Chooses the settings and starts a run. Resolves when the run is over and measured, and with settings.raw also the
// same on raw JSPI, with the counters by their ids,
// the page's status, and the timing of the frames, which drive measures itself.
async function drive(page, settings) {
  await idle(page);
  const { document } = page;
  const form = document.getElementById("settings");
  for (const [name, value] of Object.entries(settings)) {
    if (name === "raw") continue;
    const field = form.elements[name];
    if (name === "guest") [...field].find((choice) => choice.value === value).click();
    else field.value = value;
  }
  const over = new Promise((resolve) => form.addEventListener("run-over", resolve, { once: true }));
  const frames = { count: 0, longest: 0 };
  const start = page.performance.now();
  let last = start;
  let handle = page.requestAnimationFrame(function frame() {
    const now = page.performance.now();
    frames.longest = Math.max(frames.longest, now - last);
    last = now;
    frames.count++;
    handle = page.requestAnimationFrame(frame);
  });
  document.getElementById("start").click();
  await over;
  page.cancelAnimationFrame(handle);
  frames.rate = (frames.count * 1000) / (last - start);
  if (settings.raw) await idle(page);
  const counters = Object.fromEntries(
    [...document.querySelectorAll("data[id]")].map((data) => [data.id, Number(data.value)]),
  );
  return { counters, frames, status: document.getElementById("status").textContent };
}

// For browsers without a debugger attached. A page opened with ?report=some.function calls that function once it has
// loaded, and posts {value} or {error} to the server. Anything that has escaped in the page until then is an error,
// too.
{
  const name = new URLSearchParams(location.search).get("report");
  const text = (error) => (error instanceof Error ? `${error}\n${error.stack}` : String(error));
  const escaped = [];
  addEventListener("error", (event) => {
    escaped.push(text(event.error ?? event.message));
  });
  addEventListener("unhandledrejection", (event) => {
    if (!event.defaultPrevented) escaped.push(text(event.reason));
  });

  // A browser reports rejections late, but in order: when this one is reported, the others have been.
  const settled = () =>
    new Promise((resolve) => {
      const last = new Error("the last rejection, made by report.js");
      addEventListener("unhandledrejection", (event) => {
        if (event.reason !== last) return;
        escaped.pop();
        resolve();
      });
      Promise.reject(last);
    });

  const call = async () => {
    let report;
    try {
      const [object, method] = name.split(".");
      report = { value: (await globalThis[object][method]()) ?? null };
    } catch (error) {
      report = { error: text(error) };
    }
    await settled();
    if (escaped.length > 0) report = { error: `escaped: ${escaped.join("\n")}` };
    await fetch("/report", { method: "POST", body: JSON.stringify(report) });
  };
  if (name !== null) addEventListener("load", call);
}

// Resolves when the page has reported every error that had escaped before the call. A browser reports an unhandled
// rejection some time after it happened, but it reports them in order. So settle makes one: when that is reported, the
// earlier ones have been. The page's own "unhandledrejection" listeners see it too.
async function settle() {
  await new Promise((resolve) => setTimeout(resolve)); // timers that are due throw first
  const last = new Error("the last rejection, made by the test harness");
  await new Promise((resolve) => {
    addEventListener("unhandledrejection", function told(event) {
      if (event.reason !== last) return;
      event.preventDefault(); // this rejection is not the page's error
      removeEventListener("unhandledrejection", told);
      resolve();
    });
    Promise.reject(last);
  });
}

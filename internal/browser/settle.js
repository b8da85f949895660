// Resolves when the page has told of everything that had escaped before the call. A browser tells of a rejection that
// nobody handled some time after the turn in which it happened, but it tells of them in order: so one is made here, and
// when that is told the earlier ones have been. A listener of the page's own for "unhandledrejection" sees it too.
async function settle() {
  await new Promise((resolve) => setTimeout(resolve)); // timers that are due throw first
  const last = new Error("the last rejection, made by the test harness");
  await new Promise((resolve) => {
    addEventListener("unhandledrejection", function told(event) {
      if (event.reason !== last) return;
      event.preventDefault(); // it is not an error of the page
      removeEventListener("unhandledrejection", told);
      resolve();
    });
    Promise.reject(last);
  });
}

// Fibers in the browser's performance panel, on request.

import { load } from "../load.js";
import { observe, whenSettled } from "../turn/observe.js";
import * as tracks from "./tracks.js";

/**
 * Shows fibers in the browser's performance panel while it records: in the group "fiberfill", a track for each of at
 * most 100 fibers at once, with a span for each time that the fiber was queued, ran, waited (and for what) or was ready
 * (what it waited for had settled, and other fibers came first). A fiber that finds all tracks taken is shown as soon
 * as one is free. Returns a function that stops this. Costs about a microsecond per span. The script tag first loads
 * fiberfill-report.js. Does nothing in engines whose console.timeStamp takes only a label.
 */
export function trace(): () => void {
  let stop: (() => void) | undefined;
  let stopped = false;
  const begin = ({ draw }: typeof tracks): void => {
    if (!stopped) stop = draw(observe, whenSettled);
  };
  if (!SCRIPT_TAG) begin(tracks);
  else load<typeof tracks>("fiberfill-report.js", undefined, "trace needs").then(begin, console.warn);
  return () => {
    if (!stopped) stop?.();
    stopped = true;
  };
}

// The text of an error's stack: read as the engine writes it, and completed.

/**
 * The text of the stack of what fn throws, as the engine writes it, even if the page has changed how stacks are written
 * and how long they are.
 */
export function engineStack(fn: () => void): string {
  const settings: [string, unknown][] = [
    ["stackTraceLimit", 10],
    ["prepareStackTrace", undefined],
  ];
  const before = settings.filter(([key]) => key in Error).map(([key]) => [key, Reflect.get(Error, key)] as const);
  for (const [key, value] of settings) if (key in Error) Reflect.set(Error, key, value);
  try {
    fn();
  } catch (error) {
    return String((error as Error).stack);
  } finally {
    for (const [key, value] of before) Reflect.set(Error, key, value);
  }
  return "";
}

const late = new WeakSet<object>(); // errors whose stacks somebody has to read first

/** Whether an error's stack is completed when somebody reads it. */
export const isLate = (error: unknown): boolean => late.has(error as object);

/**
 * Makes an error's stack what `complete` returns, which is called when somebody reads it: for lines that take long to
 * find. Until then DevTools, which run no getter, show the error without a stack if nobody catches it.
 */
export function completeLater(error: Error, complete: (stack: string) => string): void {
  late.add(error);
  let engine: PropertyDescriptor | undefined;
  for (let at: object | null = error; at && !engine; at = Object.getPrototypeOf(at))
    engine = Object.getOwnPropertyDescriptor(at, "stack");
  const set = (value: unknown): void => {
    Reflect.defineProperty(error, "stack", { value, writable: true, enumerable: false, configurable: true });
  };
  const get = (): unknown => {
    late.delete(error);
    const stack: unknown = engine?.get ? engine.get.call(error) : engine?.value;
    const whole = typeof stack === "string" ? complete(stack) : stack;
    set(whole);
    return whole;
  };
  Reflect.defineProperty(error, "stack", { get, set, enumerable: false, configurable: true });
}

/** The same, at once. */
export function complete(error: Error, completed: (stack: string) => string): void {
  const { stack } = error;
  if (typeof stack !== "string") return;
  const value = completed(stack);
  Reflect.defineProperty(error, "stack", { value, writable: true, enumerable: false, configurable: true });
}

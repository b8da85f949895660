// What the types of the package allow and refuse: package_test.mjs checks this file strictly against the package as it
// is installed, as an ES module and as CommonJS. A line below @ts-expect-error must not compile, or the check fails.

import { all, arena, FiberError, instantiate, instantiateStreaming, limits, race } from "fiberfill";
import { suspending, type Arena, type Fiber, type FiberFunction, type FiberState, type Instantiated } from "fiberfill";
// @ts-expect-error: the package exports no such name
import { noSuchName } from "fiberfill";
import { WebAssembly as namespace } from "fiberfill/webassembly";

declare const bytes: Uint8Array<ArrayBuffer>;
declare const signal: AbortSignal | undefined;

/** Asserts that two types are the same, which assignments alone cannot: `any` can be assigned to everything. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
export function same<A, B>(..._: Same<A, B> extends true ? [] : ["the types differ"]): void {}

// --- a guest whose exports are known

interface Guest {
  title(url: string): number;
  add64(a: bigint, b: bigint): bigint;
  pair(): [number, number];
  reset(): void;
  fill: (data: Uint8Array, seed: number) => number;
  late?(): number;
  memory: WebAssembly.Memory;
}

export async function known(): Promise<void> {
  const guest = await instantiate<Guest>(bytes, { env: { get: suspending(async (n: number) => n + 1) } });
  const { exports } = guest;
  same<typeof guest, Instantiated<Guest>>();
  same<typeof exports.title, FiberFunction<[url: string], number>>();
  same<typeof exports.late, FiberFunction<[], number> | undefined>();
  same<typeof exports.memory, WebAssembly.Memory>();

  const fiber = exports.title("https://example.org");
  same<typeof fiber, Fiber<number>>();
  const state: FiberState = fiber.state;
  const named = exports.title.with({ name: "front page", signal });
  same<typeof named, (url: string) => Fiber<number>>();
  const [value, sum, [a, b]] = await all([fiber, exports.add64(1n, 2n), exports.pair()]);
  const nothing: void = await exports.reset();
  const count: number = await exports.fill(bytes, 1);
  const results: [string, number, bigint, number, number, void] = [state, value + count, sum, a, b, nothing];
  void results;

  // @ts-expect-error: the guest exports no such function
  void exports.titel("https://example.org");
  // @ts-expect-error: an argument is missing
  void exports.title();
  // @ts-expect-error: a number is not a string
  void exports.title(1);
  // @ts-expect-error: an i64 is a bigint
  void exports.add64(1, 2);
  // @ts-expect-error: what the export returns is no string
  const text: string = await exports.title("");
  // @ts-expect-error: arguments of calls with options are the same
  void named(1);
  // @ts-expect-error: the exports are the guest's
  exports.title = named;
  // @ts-expect-error: options are an object
  void exports.title.with("front page");
  // @ts-expect-error: the type of a guest is that of an object
  void instantiate<string>(bytes);
  void text;

  const streamed = await instantiateStreaming<Guest>(fetch("guest.wasm"));
  same<typeof streamed.exports.title, FiberFunction<[url: string], number>>();
}

// --- a guest of which nothing is known

export async function unknown(): Promise<unknown> {
  const { exports, instance } = await instantiate(bytes, {}, { shadowStack: { size: undefined } });
  same<typeof exports, Record<string, any>>();
  const platform: WebAssembly.Instance = instance;
  const fiber = exports.title!("https://example.org", platform);
  const name: string = fiber.name;
  const call: FiberFunction = exports.title;
  const anything: string[] = await all([1, 2].map((id) => exports.item.with({ signal, name: undefined })(id)));
  takes(await instantiate<Guest>(bytes));
  return [name, call(1, "2"), anything, new FiberError("trap", "why").code, ...(await all(new Set([call()])))];
}

function takes(guest: Instantiated): Fiber<any> {
  return guest.exports.item(1);
}

// --- scopes, limits, errors

declare const title: Fiber<string>, size: Fiber<number>, sizes: Set<Fiber<number>>;

export async function scopes(): Promise<void> {
  const both: [string, number] = await all([title, size]);
  const many: number[] = await all(sizes, { signal });
  const first: string | number = await race([title, size]);
  const scope: Arena<number> = arena(async (a) => await a.go(size), { signal });
  limits({ soft: undefined, hard: 2000 });
  // @ts-expect-error: a string is not a number
  const wrong: number = await arena(async (a) => await a.go(title));
  // @ts-expect-error: a Promise cannot be cancelled
  void all([fetch("/")]);
  // @ts-expect-error: there is no such code
  void new FiberError("no-such-code", "why");
  void [both, many, first, await scope, wrong];
}

// --- code that was written for JSPI

export async function jspi(): Promise<number> {
  const get = new namespace.Suspending(async (n: number) => n + 1);
  const module: WebAssembly.Module = await namespace.compile(bytes);
  const { exports }: WebAssembly.Instance = await namespace.instantiate(module, { env: { get } });
  const call = namespace.promising(exports["title"] as (url: number) => number);
  same<typeof call, (url: number) => Promise<number>>();
  const any = namespace.promising(exports["title"] as Function);
  same<typeof any, (...args: any[]) => Promise<any>>();
  // @ts-expect-error: a string is not a number
  void call("https://example.org");
  // @ts-expect-error: a string is not an import
  void namespace.instantiate(bytes, { env: { get: "get" } });
  return await call(1);
}

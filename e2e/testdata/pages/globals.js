// Records every global and every property of WebAssembly and Promise, before fiberfill's script tag.
{
  const places = {
    "": globalThis,
    "WebAssembly.": WebAssembly,
    "Promise.": Promise,
    "Promise.prototype.": Promise.prototype,
  };
  const note = () =>
    new Map(
      Object.entries(places).flatMap(([path, object]) =>
        Reflect.ownKeys(object).map((key) => [path + String(key), Object.getOwnPropertyDescriptor(object, key)]),
      ),
    );
  const same = (a, b) => a !== undefined && Object.is(a.value, b.value) && a.get === b.get && a.set === b.set;

  const before = note();
  globalThis.globals = {
    added: () =>
      [...note()].filter(([path, now]) => path !== "globals" && !same(before.get(path), now)).map(([path]) => path),
  };
}

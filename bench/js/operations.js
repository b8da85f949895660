// The exports of continuations.wat: an operation such as "cont-10" is the export "cont" with 10.

export function operations(module, { Instance }) {
  const { exports } = new Instance(module);
  return {
    cost(operation, n) {
      const [name, size = "0"] = operation.split("-");
      return exports[name](Number(size), n);
    },
  };
}

// A reporter for node --test: one line of JSON for every test that ended. nodetests.go reads it.
export default async function* reporter(events) {
  for await (const { type, data } of events) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    const ran = data.skip === undefined && data.todo === undefined;
    yield `${JSON.stringify({ name: data.name, passed: type === "test:pass", ran })}\n`;
  }
}

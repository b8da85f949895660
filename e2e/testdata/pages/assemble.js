// jsglue/test/assemble.mjs for pages: the server has Binaryen (../assembler.mjs).

export function assemble(text, passes = [], names = false) {
  const request = new XMLHttpRequest();
  request.open("POST", "/assemble", false);
  request.send(JSON.stringify({ text, passes, names }));
  if (request.status !== 200) throw new Error(`/assemble: ${request.status} ${request.responseText}`);
  const { binary, error } = JSON.parse(request.responseText);
  if (error) throw new Error(error);
  return Uint8Array.from(atob(binary), (c) => c.charCodeAt(0));
}

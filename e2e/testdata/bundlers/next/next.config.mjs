// The packages lie in the folder above.
export default { output: "export", turbopack: { root: new URL("..", import.meta.url).pathname } };

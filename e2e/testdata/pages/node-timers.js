// What tests written for Node import from node:timers/promises.

const after = (ms, value) => new Promise((resolve) => setTimeout(resolve, ms, value));
export { after as setTimeout };

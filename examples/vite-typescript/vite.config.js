export default {
  base: "./",
  worker: { format: "es" }, // parts of fiberfill that are loaded on demand stay files of their own
  server: { fs: { allow: [".."] } }, // the guest lies in a folder beside this one
};

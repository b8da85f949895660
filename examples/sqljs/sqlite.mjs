// SQLite from npm (sql.js, unchanged, through Emscripten's own glue) on a database that stays on its server. One import
// of the module waits: for a remote file, fd_read fetches the range of bytes that SQLite wants, and the fiber waits for
// it. For everything else the glue is used unchanged.
//
// This needs the build sql-wasm-debug, whose imports have names. In the other build the names are letters that change
// from release to release.

const EACCES = 2;
const EIO = 29; // WASI's number
const SEEK_SET = 0;
const SEEK_CUR = 1;
const O_ACCMODE = 3;
const O_RDWR_O_CREAT = 0o102;
const OK = 0;
const ROW = 100;
const TRANSIENT = -1; // as a destructor: tells SQLite to copy the value

/**
 * Loads SQLite. `initSqlJs` is the export of sql.js, `wasm` the bytes of its sql-wasm-debug.wasm. Call it once for each
 * run of the sql.js script, because sql.js makes only one instance per run.
 */
export async function load(fiberfill, initSqlJs, wasm) {
  const sqlite = new Sqlite(fiberfill);
  const glue = await new Promise((resolve, reject) => {
    const instantiateWasm = (imports, done) => {
      sqlite.instantiate(wasm, imports).then(done, reject);
      return {}; // the glue waits for the call of done
    };
    initSqlJs({ instantiateWasm }).then(resolve, reject);
  });
  // This build checks before each function that the stack pointer is on the program's only stack. A fiber has a stack
  // of its own, so this allows all of memory; fiberfill checks that a fiber stays on its own stack.
  glue.___set_stack_limits(-1, 0);
  return sqlite;
}

/** The SQLite instance. */
class Sqlite {
  #fiberfill;
  #instance;
  #exports; // calls are fibers
  #out = 0; // 8 bytes for output parameters of SQLite's functions
  #scratch = 0; // 8 bytes for the glue's functions
  #files = new Map(); // remote files by their path in the guest
  #open = new Map(); // open files by descriptor
  #last = Promise.resolve(); // the end of the last task

  constructor(fiberfill) {
    this.#fiberfill = fiberfill;
  }

  async instantiate(wasm, glue) {
    const { instance, exports } = await this.#fiberfill.instantiate(wasm, {
      env: { ...glue.env, __syscall_openat: this.#openat(glue) },
      wasi_snapshot_preview1: {
        ...glue.wasi_snapshot_preview1,
        fd_read: this.#fdRead(glue.wasi_snapshot_preview1),
        fd_close: (fd) => {
          this.#open.delete(fd);
          return glue.wasi_snapshot_preview1.fd_close(fd);
        },
      },
    });
    this.#instance = instance;
    this.#exports = exports;
    return instance;
  }

  /** Opens the database at a URL. The server must support range requests. */
  async open(url) {
    const file = await RemoteFile.at(url);
    return this.task(async () => {
      this.#out ||= this.#instance.exports.malloc(16);
      this.#scratch = this.#out + 8;
      const path = `/remote-${this.#files.size + 1}`;
      this.#files.set(path, file);
      const name = this.#copy(path + "\0");
      const code = await this.#exports.sqlite3_open(name, this.#out);
      this.#instance.exports.free(name);
      const connection = this.#answer();
      if (code !== OK) throw this.#error(connection, file);
      return new Database(this, connection, file);
    });
  }

  /** Runs a task when all earlier ones are over, because only one fiber at a time may be in SQLite. */
  task(run) {
    const result = this.#last.then(run);
    this.#last = result.then(
      () => {},
      () => {},
    );
    return result;
  }

  /** The rows of a statement, as objects. Must run as a task. */
  async rows(connection, file, sql, values) {
    const guest = this.#exports; // for functions that may read the file, and so wait, or that take a string
    const direct = this.#instance.exports; // for all others
    const fine = (code) => {
      if (code !== OK) throw this.#error(connection, file);
    };
    // A string is passed as a pointer and a length, as prepare_v2 and bind_text expect.
    fine(await guest.sqlite3_prepare_v2(connection, sql, this.#out, 0));
    const statement = this.#answer();
    try {
      for (const [i, value] of values.entries()) {
        if (typeof value === "string") fine(await guest.sqlite3_bind_text(statement, i + 1, value, TRANSIENT));
        else fine(direct.sqlite3_bind_double(statement, i + 1, value));
      }
      const rows = [];
      for (;;) {
        const code = await guest.sqlite3_step(statement);
        if (code === ROW) rows.push(this.#row(statement));
        else if (direct.sqlite3_reset(statement) === OK) return rows;
        else throw this.#error(connection, file);
      }
    } finally {
      direct.sqlite3_finalize(statement);
    }
  }

  close(connection) {
    this.#instance.exports.sqlite3_close_v2(connection);
  }

  // --- the guest's imports

  #openat(glue) {
    return (directory, path, flags, varargs) => {
      const file = this.#files.get(this.#string(path));
      if (!file) return glue.env.__syscall_openat(directory, path, flags, varargs);
      if (flags & O_ACCMODE) return -EACCES; // SQLite then tries to open it read-only
      // To the glue it is a file of zeros of that length, so the glue handles locks, sizes and positions.
      new DataView(this.#memory).setUint32(this.#scratch, 0o600, true);
      const fd = glue.env.__syscall_openat(directory, path, O_RDWR_O_CREAT, this.#scratch);
      if (fd < 0) return fd;
      const code = glue.env.__syscall_ftruncate64(fd, BigInt(file.size));
      if (code < 0) return code;
      this.#open.set(fd, file);
      return fd;
    };
  }

  #fdRead(glue) {
    const position = (fd, to) => {
      glue.fd_seek(fd, to ?? 0n, to === undefined ? SEEK_CUR : SEEK_SET, this.#scratch);
      return Number(new DataView(this.#memory).getBigInt64(this.#scratch, true));
    };
    return this.#fiberfill.suspending(
      (fd, buffers, count, done) => {
        const file = this.#open.get(fd);
        if (!file) return glue.fd_read(fd, buffers, count, done); // returns no Promise, so it does not wait
        const { signal } = this.#fiberfill.current();
        return file.read(position(fd), total(this.#buffers(buffers, count)), signal);
      },
      // buffers and done point to locals of the C function read, which are valid again when the fiber is about to go
      // on.
      (bytes, fd, buffers, count, done) => {
        if (!bytes) return EIO;
        let from = 0;
        for (const buffer of this.#buffers(buffers, count)) {
          buffer.set(bytes.subarray(from, (from += buffer.length)));
        }
        position(fd, BigInt(position(fd) + bytes.length));
        new DataView(this.#memory).setUint32(done, bytes.length, true);
        return OK;
      },
    );
  }

  /** The memory that an array of iovec describes. */
  #buffers(at, count) {
    const words = new Uint32Array(this.#memory, at, 2 * count);
    return Array.from({ length: count }, (_, i) => new Uint8Array(this.#memory, words[2 * i], words[2 * i + 1]));
  }

  // --- values

  get #memory() {
    return this.#instance.exports.memory.buffer;
  }

  /** The value that the guest wrote to #out. */
  #answer() {
    return new DataView(this.#memory).getUint32(this.#out, true);
  }

  #copy(text) {
    const bytes = new TextEncoder().encode(text);
    const at = this.#instance.exports.malloc(bytes.length);
    new Uint8Array(this.#memory).set(bytes, at);
    return at;
  }

  #string(at) {
    const bytes = new Uint8Array(this.#memory, at);
    return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
  }

  #row(statement) {
    const guest = this.#instance.exports;
    const row = {};
    for (let i = 0; i < guest.sqlite3_column_count(statement); i++) {
      row[this.#string(guest.sqlite3_column_name(statement, i))] = this.#column(statement, i);
    }
    return row;
  }

  #column(statement, i) {
    const guest = this.#instance.exports;
    const bytes = (at) => new Uint8Array(this.#memory, at, guest.sqlite3_column_bytes(statement, i)).slice();
    switch (guest.sqlite3_column_type(statement, i)) {
      case 1: // integer
      case 2: // float
        return guest.sqlite3_column_double(statement, i);
      case 3: // text
        return new TextDecoder().decode(bytes(guest.sqlite3_column_text(statement, i)));
      case 4: // blob
        return bytes(guest.sqlite3_column_blob(statement, i));
      default:
        return null;
    }
  }

  /** An Error with SQLite's message. Its cause is why the file could not be read. */
  #error(connection, file) {
    const cause = file.failure;
    file.failure = undefined;
    const text = this.#string(this.#instance.exports.sqlite3_errmsg(connection));
    return new Error(`${file.url}: ${text}`, cause && { cause });
  }
}

/** A connection. Its queries run one after another; everything else goes on. */
class Database {
  #sqlite;
  #connection;
  #file;

  constructor(sqlite, connection, file) {
    this.#sqlite = sqlite;
    this.#connection = connection;
    this.#file = file;
  }

  /**
   * Resolves to the rows of one statement, as objects. values, strings and numbers, replace its question marks.
   */
  query(sql, ...values) {
    return this.#sqlite.task(() => this.#sqlite.rows(this.#connection, this.#file, sql, values));
  }

  close() {
    return this.#sqlite.task(() => this.#sqlite.close(this.#connection));
  }

  /** The size of the file, the number of requests for ranges, and the number of bytes received. */
  get traffic() {
    const { size, requests, received } = this.#file;
    return { size, requests, received };
  }
}

/** A file on a server. */
class RemoteFile {
  requests = 0;
  received = 0;
  failure = undefined; // why the last read failed

  constructor(url, size) {
    this.url = url;
    this.size = size;
  }

  static async at(url) {
    const response = await fetch(url, { method: "HEAD" });
    const size = Number(response.headers.get("content-length"));
    if (!response.ok || !size) throw new Error(`${url}: HTTP ${response.status}, ${size} bytes`);
    return new RemoteFile(url, size);
  }

  /**
   * Resolves to the bytes from a position on, fewer at the end of the file. Resolves to undefined on a failure: SQLite
   * can handle an I/O error, but an exception would unwind its frames.
   */
  async read(from, length, signal) {
    const to = Math.min(from + length, this.size);
    if (from >= to) return new Uint8Array(0);
    try {
      this.requests++;
      const response = await fetch(this.url, { headers: { Range: `bytes=${from}-${to - 1}` }, signal });
      if (response.status !== 206) throw new Error(`HTTP ${response.status} instead of bytes ${from} to ${to - 1}`);
      const bytes = new Uint8Array(await response.arrayBuffer());
      this.received += bytes.length;
      if (bytes.length !== to - from) throw new Error(`${bytes.length} bytes instead of ${to - from}`);
      return bytes;
    } catch (error) {
      this.failure = error;
      return undefined;
    }
  }
}

function total(buffers) {
  return buffers.reduce((sum, buffer) => sum + buffer.length, 0);
}

// Loaded into an agent of a test before its program (`node --import`): lets files, processes and sockets of this process fail for as long
// as the file that RX_TEST_FAULTS names holds a plan, and as that plan says. Every access that was made to fail is a line of `<file>.log`.
import childProcess from 'node:child_process';
import dns from 'node:dns/promises';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import { dirname } from 'node:path';
import workerThreads from 'node:worker_threads';

const control = process.env.RX_TEST_FAULTS ?? '';
const LOOK_EVERY_MS = 10;

/** What the kernel may answer without a word about what was asked for. */
const ERRORS = {
  // Of a path or descriptor that is only looked at.
  look: ['ENOMEM', 'EIO', 'EACCES'],
  read: ['EMFILE', 'ENFILE', 'ENOMEM', 'EIO', 'EACCES', 'EAGAIN'],
  write: ['EMFILE', 'ENFILE', 'ENOMEM', 'EIO', 'EACCES', 'ENOSPC', 'EDQUOT', 'EROFS'],
  spawn: ['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'],
  // Not what a far side may say: to a probe that is an answer.
  connect: ['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EADDRNOTAVAIL'],
  // The runtime and the API server also these.
  far: ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EAGAIN'],
};
const { errno } = os.constants;

const original = { read: fs.readFileSync, append: fs.appendFileSync };
/** The program is not a file of the agent: Node remembers for ever that a module could not be loaded. */
const program = dirname(process.argv[1] ?? '/');

let plan;
let planText = '';
let count = 0;
let state = 0;
/** What this module does itself goes through the same functions. */
let isOwn = false;
const asOwn = (act) => {
  isOwn = true;
  try {
    return act();
  } finally {
    isOwn = false;
  }
};

/** mulberry32 */
const next = () => {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};
const pick = (list) => list[Math.floor(next() * list.length)];

const look = () => {
  let text = '';
  try {
    text = asOwn(() => original.read(control, 'utf8'));
  } catch {
    // No plan: nothing fails.
  }
  if (text === planText) return;
  planText = text;
  plan = text === '' ? undefined : JSON.parse(text);
  count = 0;
  state = plan?.seed ?? 0;
};

/** The error that this access has to end with; undefined when it is let through. */
const fault = (kind, operation, target, codes = ERRORS[kind]) => {
  const path = typeof target === 'string' ? target : target instanceof URL ? target.pathname : String(target);
  if (isOwn || !plan || !plan.kinds.includes(kind === 'look' ? 'read' : kind) || path.startsWith(program))
    return undefined;
  count += 1;
  const { row, share } = plan;
  if (row ? count <= row.from || count > row.from + row.length : next() >= share) return undefined;
  const drawn = codes.includes(plan.errno) ? plan.errno : pick(codes);
  // A manifest that may not be read is so by itself, and its pods are not wanted: that is no fault of the machine.
  const code = drawn === 'EACCES' && path.includes('/manifests/') ? 'EIO' : drawn;
  asOwn(() => original.append(`${control}.log`, `${kind} ${operation} ${code} ${path}\n`));
  const error = new Error(`${code}: injected, ${operation} '${path}'`);
  return Object.assign(error, { code, errno: -(errno[code] ?? 1), syscall: operation, path });
};

const nameOf = (name) => name.replace(/Sync$/, '');

const guardSync = (owner, kind, ...names) => {
  for (const name of names) {
    const call = owner[name];
    owner[name] = Object.assign(function (...args) {
      const error = fault(kind, nameOf(name), args[0]);
      if (error) throw error;
      return call.apply(this, args);
    }, call);
  }
};

const guardCallback = (owner, kind, ...names) => {
  for (const name of names) {
    const call = owner[name];
    owner[name] = Object.assign(function (...args) {
      const error = fault(kind, name, args[0]);
      const done = args.at(-1);
      if (!error || typeof done !== 'function') return call.apply(this, args);
      setImmediate(done, error);
    }, call);
  }
};

const guardPromise = (owner, kind, ...names) => {
  for (const name of names) {
    const call = owner[name];
    owner[name] = async function (...args) {
      const error = fault(kind, name, args[0]);
      if (error) throw error;
      return call.apply(this, args);
    };
  }
};

const LOOKS = ['access', 'lstat', 'realpath', 'stat', 'statfs'];
const READS = ['opendir', 'readdir', 'readFile', 'readlink'];
const WRITES = [
  'chmod',
  'chown',
  'lchown',
  'mkdir',
  'open',
  'rename',
  'rm',
  'rmdir',
  'symlink',
  'truncate',
  'unlink',
  'utimes',
  'writeFile',
];
const sync = (name) => `${name}Sync`;

/** The prototype of open files is only had from one. */
const guardHandles = async () => {
  const handle = await fs.promises.open('/dev/null');
  const prototype = Object.getPrototypeOf(handle);
  await handle.close();
  const wrap = (kind, ...names) => {
    for (const name of names) {
      const call = prototype[name];
      prototype[name] = async function (...args) {
        const error = fault(kind, `handle.${name}`, this.fd);
        if (error) throw error;
        return call.apply(this, args);
      };
    }
  };
  wrap('look', 'read', 'readFile', 'stat');
  wrap('write', 'chmod', 'sync', 'truncate', 'write', 'writeFile');
};

/** Every name of a directory that is read bit by bit. */
const guardDirectories = () => {
  const { prototype } = fs.Dir;
  const names = prototype[Symbol.asyncIterator];
  prototype[Symbol.asyncIterator] = async function* () {
    for await (const name of names.call(this)) {
      const error = fault('look', 'readdir', this.path);
      if (error) throw error;
      yield name;
    }
  };
};

const guardFiles = async () => {
  await guardHandles();
  guardDirectories();
  guardSync(fs, 'look', ...LOOKS.map(sync), 'fstatSync', 'readSync');
  guardSync(fs, 'read', ...READS.map(sync), 'watch');
  guardSync(
    fs,
    'write',
    ...WRITES.map(sync),
    'appendFileSync',
    'fchmodSync',
    'fsyncSync',
    'ftruncateSync',
    'writeSync',
  );
  guardCallback(fs, 'look', ...LOOKS, 'fstat', 'read');
  guardCallback(fs, 'read', ...READS);
  guardCallback(fs, 'write', ...WRITES, 'fchown', 'fsync', 'write', 'writev');
  guardPromise(fs.promises, 'look', ...LOOKS);
  guardPromise(fs.promises, 'read', ...READS);
  guardPromise(fs.promises, 'write', ...WRITES);
  const exists = fs.existsSync;
  fs.existsSync = (path) => (fault('look', 'exists', path) ? false : exists(path));
  const { networkInterfaces } = os;
  os.networkInterfaces = () => {
    const error = fault('look', 'networkInterfaces', '');
    if (!error) return networkInterfaces();
    const { code } = error;
    throw Object.assign(new Error(`injected: uv_interface_addresses ${code}`), {
      code: 'ERR_SYSTEM_ERROR',
      info: { code },
    });
  };
};

const guardProcesses = () => {
  const { spawn } = childProcess.ChildProcess.prototype;
  childProcess.ChildProcess.prototype.spawn = function (options) {
    const error = fault('spawn', 'spawn', options.file);
    // Node says some errors of the kernel at once and others later: that is left to it.
    if (error) this._handle.spawn = () => error.errno;
    return spawn.call(this, options);
  };
  const { spawnSync } = childProcess;
  childProcess.spawnSync = function (...args) {
    const error = fault('spawn', 'spawnSync', args[0]);
    if (!error) return spawnSync.apply(this, args);
    return { error, status: null, signal: null, pid: 0, output: null, stdout: null, stderr: null };
  };
  const { Worker } = workerThreads;
  workerThreads.Worker = class extends Worker {
    constructor(...args) {
      const error = fault('spawn', 'Worker', '');
      if (error)
        throw Object.assign(new Error(`Worker initialization failure: ${error.code}`), {
          code: 'ERR_WORKER_INIT_FAILED',
        });
      super(...args);
    }
  };
};

const guardSockets = () => {
  guardPromise(dns, 'connect', 'lookup');
  const { connect } = net.Socket.prototype;
  net.Socket.prototype.connect = function (...args) {
    const [first] = args;
    const options = Array.isArray(first) ? first[0] : typeof first === 'object' ? first : { path: first };
    // HTTP has a path of its own.
    const { path, host = 'localhost', port } = options ?? {};
    const isFar = port === undefined || String(port) === process.env.RX_TEST_API_PORT;
    const target = port === undefined ? path : `${host}:${port}`;
    const error = fault('connect', 'connect', target, isFar ? [...ERRORS.connect, ...ERRORS.far] : ERRORS.connect);
    if (!error) {
      const socket = connect.apply(this, args);
      // A connection that stands may be lost as well.
      if (isFar && plan?.kinds.includes('connect') && next() < 0.3) {
        const lost = Object.assign(new Error('read ECONNRESET'), {
          code: 'ECONNRESET',
          errno: -errno.ECONNRESET,
          syscall: 'read',
        });
        setTimeout(() => plan && socket.destroy(lost), 300 * next()).unref();
      }
      return socket;
    }
    this.connecting = true;
    process.nextTick(() => this.destroy(error));
    return this;
  };
  const { listen } = net.Server.prototype;
  net.Server.prototype.listen = function (...args) {
    const error = fault('connect', 'listen', String(args[0]?.path ?? args[0]));
    if (!error) return listen.apply(this, args);
    process.nextTick(() => this.emit('error', error));
    return this;
  };
};

// The runtime that the agent starts is another process, which inherits this.
if (control !== '' && process.argv[2] === 'run') {
  await guardFiles();
  guardProcesses();
  guardSockets();
  syncBuiltinESMExports();
  look();
  setInterval(look, LOOK_EVERY_MS).unref();
}

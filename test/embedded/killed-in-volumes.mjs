// Loaded into an agent of a test before its program (`node --import`): kills this process right before one of the calls by which it changes
// volumes on the disk, as the file says that RX_TEST_VOLUME_KILL names: `{"step": "update", "call": "rename", "nth": 2}`, the second such
// call of that step. The step and the call are then a line of `<file>.log`.
import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const control = process.env.RX_TEST_VOLUME_KILL ?? '';
/** The functions of the agent that take each step, by their names in a stack. */
const TAKES_DOWN = /\b(?:tearDown|unbindSubPaths)\d*\b/;
const WRITES = /\bwriteAtomically\d*\b/;
const SETS_UP = /\b(?:setUp|bindSubPath)\d*\b/;
const VOLUME = /^.*\/pods\/[^/]+\/volumes\/[^/]+\/[^/]+/;
const DEEP_STACK = 40;

const original = { exists: fs.existsSync, append: fs.appendFileSync, read: fs.readFileSync };
let plan;
let count = 0;
/** Volumes that had no files before this process wrote some. */
const fresh = new Set();

const stepOf = (path) => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = DEEP_STACK;
  const { stack = '' } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  if (TAKES_DOWN.test(stack)) return 'unmount';
  if (!WRITES.test(stack)) return SETS_UP.test(stack) ? 'mount' : undefined;
  const [volume = ''] = VOLUME.exec(path) ?? [];
  if (!original.exists(`${volume}/..data`)) fresh.add(volume);
  return fresh.has(volume) ? 'mount' : 'update';
};

const before = (call, path) => {
  if (call !== plan.call || stepOf(String(path)) !== plan.step) return;
  count += 1;
  if (count < plan.nth) return;
  original.append(`${control}.log`, `${plan.step} ${call}\n`);
  // The call is not made meanwhile: this thread waits for the shell.
  childProcess.spawnSync('/bin/sh', ['-c', 'kill -KILL "$0"', String(process.pid)]);
};

/** What only looks at the disk leaves nothing behind. */
const CHANGES = ['chmod', 'lchown', 'mkdir', 'rename', 'rmdir', 'symlink', 'unlink', 'writeFile'];

const guard = () => {
  for (const name of CHANGES) {
    const call = fs.promises[name];
    fs.promises[name] = async function (...args) {
      before(name, name === 'symlink' ? args[1] : args[0]);
      return call.apply(this, args);
    };
  }
  const { spawn } = childProcess.ChildProcess.prototype;
  childProcess.ChildProcess.prototype.spawn = function (options) {
    if (options.file === 'mount' || options.file === 'umount') before(options.file, options.args?.at(-1));
    return spawn.call(this, options);
  };
  syncBuiltinESMExports();
};

// The runtime that the agent starts is another process, which inherits this.
if (control !== '' && process.argv[2] === 'run') {
  plan = original.exists(control) ? JSON.parse(original.read(control, 'utf8')) : undefined;
  if (plan) guard();
}

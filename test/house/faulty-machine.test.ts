import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const MACHINE = pathToFileURL(join(ROOT, 'test/embedded/faulty-machine.mjs')).href;

/** The modules whose calls reach the machine; the other modules with sockets, such as `http`, are made of `net`. */
const MODULES = ['fs', 'fs/promises', 'child_process', 'dns/promises', 'net', 'worker_threads'] as const;
/** What stands below several calls. */
const PARTS = ['ChildProcess.spawn', 'Socket.connect', 'Server.listen', 'Dir.names'];

/** Cannot fail, are made of the others, or are no call. `connect`, `createServer` and a `Socket` are made of the parts. */
const EXEMPT: Readonly<Record<(typeof MODULES)[number], readonly string[]>> = {
  fs: ['close', 'closeSync', 'constants', 'createReadStream', 'createWriteStream'],
  'fs/promises': [],
  child_process: ['execFile', 'spawn'],
  'dns/promises': [],
  net: ['BlockList', 'Socket', 'connect', 'createServer', 'isIP'],
  worker_threads: ['parentPort', 'workerData'],
};

/** The embedded runtime has its own faults; what is only in a browser or in another command is no part of the agent. */
const ELSEWHERE = ['generated/', 'runtime/embedded/', 'tools/page/', 'cli/local/', 'cli/commands/'];
const SOURCES = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !ELSEWHERE.some((folder) => file.startsWith(folder)))
  .map((file) => readFileSync(join(ROOT, 'src', file), 'utf8'));

/** The names of a module that are used in a file, without types. */
const namesOf = (text: string, module: string): readonly string[] =>
  [...text.matchAll(new RegExp(`^import (?!type )([^;]*?) from 'node:${module}'`, 'gm'))].flatMap(([, what = '']) => {
    const space = /^\* as (\w+)$/.exec(what)?.[1];
    if (space !== undefined)
      return [...text.matchAll(new RegExp(`\\b${space}\\.(\\w+)`, 'g'))].map(([, name = '']) => name);
    return what
      .replace(/[{}]/g, '')
      .split(',')
      .map((name) => name.trim().split(' as ')[0]!)
      .filter((name) => name !== '' && !name.startsWith('type '));
  });

/** What is another function once the module of the faults is loaded. */
const SCRIPT = `
  import childProcess from 'node:child_process';
  import fs from 'node:fs';
  import net from 'node:net';
  const modules = {};
  for (const name of ${JSON.stringify(MODULES)}) modules[name] = (await import('node:' + name)).default;
  const parts = () => ({
    'ChildProcess.spawn': childProcess.ChildProcess.prototype.spawn,
    'Socket.connect': net.Socket.prototype.connect,
    'Server.listen': net.Server.prototype.listen,
    'Dir.names': fs.Dir.prototype[Symbol.asyncIterator],
  });
  const before = Object.entries({ ...modules, parts: parts() }).map(([name, module]) => [name, { ...module }]);
  await import(process.env.MACHINE);
  const after = { ...modules, parts: parts() };
  const changed = before.map(([name, module]) => [
    name,
    Object.keys(module).filter((key) => after[name][key] !== module[key]),
  ]);
  console.log(JSON.stringify(Object.fromEntries(changed)));
`;

it('a fault can be put into every access of the agent to files, processes and sockets', () => {
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', SCRIPT, 'agent', 'run'], {
    env: { ...process.env, MACHINE, RX_TEST_FAULTS: '/nowhere/faults' },
    encoding: 'utf8',
  });
  const guarded = JSON.parse(output) as Readonly<Record<string, readonly string[]>>;
  const parts = PARTS.filter((part) => !guarded.parts?.includes(part));
  const used = MODULES.map(
    (module) => [module, [...new Set(SOURCES.flatMap((text) => namesOf(text, module)))]] as const,
  );
  expect(used.flatMap(([, names]) => names).length).toBeGreaterThan(50);
  const unguarded = used.flatMap(([module, names]) =>
    names
      .filter((name) => !guarded[module]?.includes(name) && !EXEMPT[module].includes(name))
      .map((name) => `${module} ${name}`),
  );
  expect([...parts, ...unguarded]).toEqual([]);
});

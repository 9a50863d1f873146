import { chmodSync, closeSync, copyFileSync, mkdirSync, openSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRoot, RuntimeUnderTest } from './runtime-under-test.js';

const LONGEST = 131_071;
const host = new RuntimeUnderTest();
const folder = join(host.directory, 'programs');
const LONG_NAME = join(folder, 'n'.repeat(300));
const pathOf = (name: string): string => (name === 'of-300-letters' ? LONG_NAME : join(folder, name));
let [sandbox, running] = ['', ''];
beforeAll(async () => {
  chmodSync(host.directory, 0o755);
  mkdirSync(join(folder, 'private'), { recursive: true });
  const write = (name: string, content: string | Buffer, mode = 0o755): void => {
    writeFileSync(join(folder, name), content);
    chmodSync(join(folder, name), mode);
  };
  write('not-executable', '#!/bin/sh\n', 0o644);
  write('no-interpreter', '#! /no/such/sh -e\n');
  write('bad-interpreter', `#!${folder}/not-executable\n`);
  write('of-windows', '#!/bin/sh\r\necho\r\n');
  write('no-shebang', 'echo hello\n');
  write('empty', '');
  const foreign = Buffer.alloc(64);
  foreign.write('\u007fELF\u0002\u0001\u0001', 'latin1');
  // A machine that no kernel runs.
  foreign.writeUInt16LE(0xffff, 18);
  write('foreign', foreign);
  write('good', '#!\t/bin/sh -e\nexit 0\n');
  write('private/good', '#!/bin/sh\n');
  chmodSync(join(folder, 'private'), 0o700);
  symlinkSync(join(folder, 'loop'), join(folder, 'loop'));
  symlinkSync('/nowhere', join(folder, 'dangling'));
  await host.start();
  sandbox = await host.sandbox('cannot-run');
  running = await host.run(sandbox, 'exec sleep 100000');
});
afterAll(() => host.dispose());

/** What runc looks up before it starts a program: a command fails, too. The texts are those of runc. */
const LOOKED_UP: readonly (readonly [program: string, why: string])[] = [
  ['missing', `stat ${folder}/missing: no such file or directory`],
  ['dangling', `stat ${folder}/dangling: no such file or directory`],
  ['good/below', `stat ${folder}/good/below: not a directory`],
  ['loop', `stat ${folder}/loop: too many levels of symbolic links`],
  ['of-300-letters', `stat ${LONG_NAME}: file name too long`],
  ['private', 'permission denied'],
  ['not-executable', 'permission denied'],
];
/** What only execve finds out over runc. */
const REFUSED: readonly (readonly [program: string, why: string])[] = [
  ['no-interpreter', 'its interpreter /no/such/sh: no such file or directory'],
  ['bad-interpreter', `its interpreter ${folder}/not-executable: permission denied`],
  [
    'of-windows',
    "its first line ends with a carriage return, which is part of the interpreter's name: no such file or directory",
  ],
  ['no-shebang', 'exec format error: it is neither a program nor a script whose first line begins with #!'],
  ['empty', 'exec format error: the file is empty'],
  ['foreign', 'exec format error: it is a program for another kind of machine'],
];

let count = 0;
const start = async (command: readonly string[], more: object = {}) => {
  const metadata = { name: `c${(count += 1)}`, attempt: 0 };
  const containerId = await host.create(sandbox, '', { metadata, command: [...command], ...more });
  const failure = await host.runtime.startContainer({ containerId }).then(
    () => undefined,
    (error: { details: string }) => error.details,
  );
  return { failure, status: failure === undefined ? await host.exited(containerId) : await host.status(containerId) };
};
const startError = (message: string) => ({
  failure: message,
  status: { state: 'CONTAINER_EXITED', exitCode: 128, reason: 'StartError', message },
});
const run = (...cmd: string[]) => host.runtime.execSync({ containerId: running, cmd, timeout: 0n });
const variable = (key: string, bytes: number) => ({ key, value: Buffer.alloc(bytes, 'x') });

describe('a program that cannot run', () => {
  it.each([...LOOKED_UP, ...REFUSED])('a container whose program is %s does not start', async (name, why) => {
    const program = pathOf(name);
    expect(await start([program])).toMatchObject(startError(`exec: "${program}": ${why}`));
  });

  it.each(LOOKED_UP)('a command whose program is %s cannot be run', async (name, why) => {
    const program = pathOf(name);
    await expect(run(program)).rejects.toMatchObject({ code: 2, details: `exec: "${program}": ${why}` });
  });

  it.each(REFUSED.map(([name]) => name).filter((name) => !['no-shebang', 'empty'].includes(name)))(
    'a command whose program is %s ends with an exit code, so that a probe fails',
    async (name) => {
      expect((await run(join(folder, name))).exitCode).toBeGreaterThan(0);
    },
  );

  it.each(['', 'missing', 'not-executable', 'private'])(
    'a program %j that is not in the PATH is not found there',
    async (program) => {
      const envs = [{ key: 'PATH', value: Buffer.from(folder) }];
      expect(await start([program], { envs })).toMatchObject(
        startError(`exec: "${program}": executable file not found in $PATH`),
      );
      expect((await start(['good'], { envs })).status.exitCode).toBe(0);
    },
  );

  it.runIf(isRoot)('a program that only root can reach is refused to another user', async () => {
    const program = join(folder, 'private', 'good');
    const linux = { securityContext: { runAsUser: { value: 65_534n } } };
    expect(await start([program], { linux })).toMatchObject(
      startError(`exec: "${program}": stat ${program}: permission denied`),
    );
    expect((await start([program])).status.exitCode).toBe(0);
    expect((await start([join(folder, 'good')], { linux })).status.exitCode).toBe(0);
  });

  it('a program that is being written ends the container, and runs once it is written', async () => {
    const program = join(folder, 'busy');
    copyFileSync('/bin/true', program);
    const open = openSync(program, 'r+');
    const busy = await start([program]);
    closeSync(open);
    expect(busy.status).toMatchObject({ exitCode: 126, reason: 'Error' });
    expect(host.output(busy.status.logPath, 'stderr')).toContain('Text file busy');
    expect((await start([program])).status.exitCode).toBe(0);
  });

  it.each([
    ['missing', 'no such directory'],
    ['good', 'not a directory'],
    ['loop', 'no such directory'],
  ])('a container does not start in a working directory that is %s', async (name, why) => {
    const workingDir = join(folder, name);
    expect(await start(['pwd'], { workingDir })).toMatchObject(startError(`working directory "${workingDir}": ${why}`));
  });
});

describe('a list of arguments and variables that is too long', () => {
  it('a variable above 128 KiB is named, and the longest one runs', async () => {
    expect(await start(['/bin/true'], { envs: [variable('BIG', LONGEST - 3)] })).toMatchObject(
      startError(
        `exec: "/bin/true": argument list too long: the variable BIG has ${LONGEST + 1} bytes, and may have ${LONGEST} at most`,
      ),
    );
    expect((await start(['/bin/true'], { envs: [variable('BIG', LONGEST - 4)] })).status.exitCode).toBe(0);
  });

  it('an argument above 128 KiB is named, and the longest one runs', async () => {
    const why = `exec: "/bin/true": argument list too long: argument 2 has ${LONGEST + 1} bytes, and may have ${LONGEST} at most`;
    expect(await start(['/bin/true', 'a', 'x'.repeat(LONGEST + 1)])).toMatchObject(startError(why));
    expect((await start(['/bin/true', 'x'.repeat(LONGEST)])).status.exitCode).toBe(0);
    expect(await run('/bin/true', 'a', 'x'.repeat(LONGEST + 1))).toMatchObject({
      exitCode: 1,
      stderr: Buffer.from(`${why}\n`),
    });
    expect((await run('/bin/true', 'x'.repeat(LONGEST))).exitCode).toBe(0);
  });

  it('a list above the limit names its largest part', async () => {
    const envs = Array.from({ length: 80 }, (_, index) => variable(`V${index}`, 90_000 + index));
    const { failure, status } = await start(['/bin/true'], { envs });
    expect(failure).toMatch(
      /^exec: "\/bin\/true": argument list too long: arguments and variables have 72\d{5} bytes, and may have \d+ at most; the variable V79 has most, 90083 bytes$/,
    );
    expect(status).toMatchObject({ exitCode: 128, reason: 'StartError' });
  });
});

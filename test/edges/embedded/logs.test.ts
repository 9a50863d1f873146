import { existsSync, readFileSync, renameSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, RuntimeUnderTest } from './runtime-under-test.js';

const host = new RuntimeUnderTest();
let sandbox: string;
beforeAll(async () => {
  await host.start();
  sandbox = await host.sandbox('logs');
});
afterAll(() => host.dispose());

const finished = async (name: string, script: string): Promise<string> => {
  const id = await host.run(sandbox, script, { metadata: { name, attempt: 0 } });
  return (await host.exited(id)).logPath;
};

describe('the log of a container', () => {
  it('keeps the streams apart and every line once', async () => {
    const path = await finished('both', 'for i in 1 2 3; do echo out$i; echo err$i >&2; done');
    expect(host.output(path)).toBe('out1\nout2\nout3\n');
    expect(host.output(path, 'stderr')).toBe('err1\nerr2\nerr3\n');
  });

  it('splits a line over 16 KiB into partial ones', async () => {
    const path = await finished('long', 'head -c 40000 /dev/zero | tr "\\0" x; echo; echo short');
    expect(host.logLines(path).map(({ tag, content }) => [tag, content.length])).toEqual([
      ['P', 16384],
      ['P', 16384],
      ['F', 7232],
      ['F', 5],
    ]);
  });

  it('keeps a last line without its newline as a partial one', async () => {
    const path = await finished('tail', 'echo whole; printf rest');
    expect(host.logLines(path).map(({ tag, content }) => [tag, content])).toEqual([
      ['F', 'whole'],
      ['P', 'rest'],
    ]);
  });

  it('loses nothing when a script opens its streams again', async () => {
    const path = await finished('reopened', 'echo a >&2; echo b > /dev/stderr; echo c > /dev/stderr; echo d >&2');
    expect(host.output(path, 'stderr')).toBe('a\nb\nc\nd\n');
  });

  it('is complete for a burst of a megabyte when the container is exited', async () => {
    const path = await finished('burst', 'seq 1 150000');
    const lines = host.output(path).trim().split('\n');
    expect(lines.length).toBe(150_000);
    expect(lines.every((line, index) => line === String(index + 1))).toBe(true);
  });

  it('shows a line while the container runs, and goes on in a new file after a rotation', async () => {
    const script = 'echo one; read x < $GATE; echo two; read x < $GATE; echo three; exec sleep 1000';
    const gate = `${host.directory}/gate`;
    const id = await host.run(sandbox, `mkfifo $GATE; ${script}`, {
      metadata: { name: 'rotated', attempt: 0 },
      envs: [{ key: 'GATE', value: Buffer.from(gate) }],
    });
    const { logPath } = await host.status(id);
    const open = () =>
      host.runtime.execSync({ containerId: id, cmd: ['/bin/sh', '-c', `echo > ${gate}`], timeout: 20n });
    await eventually('the first line', () => host.output(logPath) === 'one\n');
    renameSync(logPath, `${logPath}.old`);
    await open();
    await eventually('the second line, in the renamed file', () => host.output(`${logPath}.old`) === 'one\ntwo\n');
    expect(existsSync(logPath)).toBe(false);
    await host.runtime.reopenContainerLog({ containerId: id });
    expect(readFileSync(logPath, 'utf8')).toBe('');
    await open();
    await eventually('the third line, in the new file', () => host.output(logPath) === 'three\n');
    expect(host.output(`${logPath}.old`)).toBe('one\ntwo\n');
    await host.runtime.stopContainer({ containerId: id, timeout: 0n });
    await expect(host.runtime.reopenContainerLog({ containerId: id })).rejects.toMatchObject({ code: 9 });
  });
});

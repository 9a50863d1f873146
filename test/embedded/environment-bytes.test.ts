import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { it } from './daemon.js';
import { eventually } from './eventually.js';
import { manifest, SLEEP } from './manifests.js';

/** Bytes that are not UTF-8, with a quote, a backslash, a dollar and line ends. */
const KEY = Buffer.from([0xff, 0xfe, 0x27, 0x5c, 0x24, 0xfd, 0x41, 0xc3, 0x0a, 0x0a]);
const NUL = Buffer.from([0x61, 0x00, 0x62]);

const secretOf = (data: Readonly<Record<string, Buffer>>): string =>
  JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' } },
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, value.toString('base64')])),
  });

describe.concurrent('the value of a Secret that is not UTF-8', () => {
  it('is in the environment of a container and of its hook as it is, and hidden in a recording that replays', async ({
    daemon,
  }) => {
    const recording = join(daemon.directory, 'node.rec');
    // A hook's command is not expanded; in the command of a container, two dollars are one.
    const save = (file: string, pid: string): string =>
      `cat /proc/${pid}/environ > "$DIR/${file}.tmp"; mv "$DIR/${file}.tmp" "$DIR/${file}"`;
    const pod = {
      name: 'bytes',
      containers: [
        {
          env: [
            { name: 'KEY', valueFrom: { secretKeyRef: { name: 'keys', key: 'the.key' } } },
            { name: 'WITHIN', value: 'é $(KEY) end' },
          ],
          envFrom: [{ secretRef: { name: 'keys' } }],
          script: `${save('main', '$$$$')}; ${SLEEP}`,
          lifecycle: { postStart: { exec: { command: ['sh', '-c', save('hook', '$$')] } } },
        },
      ],
    };
    daemon.write('a.yaml', `${manifest(daemon.directory, pod)}\n---\n${secretOf({ 'the.key': KEY })}\n`);
    await daemon.start('--record', recording);
    await eventually('the log names the variables', () =>
      daemon.logged().some((line) => String(line.message).startsWith('variables are not UTF-8 text')),
    );
    for (const file of ['main', 'hook']) {
      const found = await eventually(`${file} has started`, () => readOrNothing(join(daemon.directory, file)));
      for (const [name, value] of [
        ['KEY', KEY],
        ['the.key', KEY],
        ['WITHIN', Buffer.concat([Buffer.from('é '), KEY, Buffer.from(' end')])],
      ] as const) {
        const variable = Buffer.concat([Buffer.from(`\0${name}=`), value, Buffer.from([0])]);
        expect(Buffer.concat([Buffer.from([0]), found]).includes(variable), `${name} of ${file}`).toBe(true);
      }
    }

    expect((await daemon.kill('SIGTERM')).code).toBe(0);
    const recorded = readFileSync(recording);
    const entries = recorded[0] === 0x1f ? gunzipSync(recorded) : recorded;
    // The bytes begin anywhere in a text of base64.
    for (const skipped of [0, 1, 2])
      expect(entries.toString()).not.toContain(KEY.subarray(skipped).toString('base64').slice(0, 8));
    expect(entries.includes(KEY)).toBe(false);
    const [, value = ''] = /"key":"KEY","value":\{"\$bytes":"([^"]*)"/.exec(entries.toString()) ?? [];
    expect(Buffer.from(value, 'base64').toString('latin1')).toMatch(/^\xff<secret \d+>$/);
    expect((await daemon.run('replay', recording)).stdout).toContain('no difference');
  });

  it('keeps a container that needs it as a text, or as one with a NUL, from its start, with the reason', async ({
    daemon,
  }) => {
    const env = [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'keys', key: 'key' } } }];
    const argument = {
      name: 'argument',
      containers: [{ env, command: ['sh', '-c', SLEEP, '$(KEY)'] }],
    };
    const nul = {
      name: 'nul',
      containers: [{ env: [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'keys', key: 'nul' } } }] }],
    };
    daemon.apply(argument);
    daemon.apply(nul);
    daemon.write('keys.yaml', secretOf({ key: KEY, nul: NUL }));
    const recording = join(daemon.directory, 'node.rec');
    await daemon.start('--record', recording);
    const waitingOf = (name: string) =>
      eventually(`${name} waits`, async () => {
        const pod = (await daemon.shownPods()).find(({ metadata }) => metadata?.name === `${name}-node1`);
        const { state, lastState } = pod?.status?.containerStatuses?.[0] ?? {};
        const message = state?.waiting?.message ?? state?.terminated?.message ?? lastState?.terminated?.message;
        return message?.includes('variable') ? message : undefined;
      });
    expect(await waitingOf('argument')).toBe(
      'variable "KEY" is not UTF-8 text, which a command, an argument or a path has to be',
    );
    expect(await waitingOf('nul')).toContain('variable "KEY" contains a NUL byte');
    expect((await daemon.kill('SIGTERM')).code).toBe(0);
    expect((await daemon.run('replay', recording)).stdout).toContain('no difference');
  });
});

const readOrNothing = (path: string): Buffer | undefined => {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
};

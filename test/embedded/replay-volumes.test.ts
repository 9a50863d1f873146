import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { isRoot, it } from './daemon.js';
import { eventually } from './eventually.js';
import { SLEEP } from './manifests.js';
import { mountedBelow } from '../support/mounted-below.js';
import { configMap, secret } from './objects.js';
import { expectSame, replayChanged } from './replays.js';

const mount = (name: string) => ({ name, mountPath: `/rx/${name}` });

it.runIf(isRoot)(
  'replays volumes, their changes and a wait for one, without the values of a Secret',
  async ({ daemon }) => {
    const file = join(daemon.directory, 'node.rec');
    daemon.write('keys.yaml', secret('keys', { password: 'hunter2-old', other: 'hunter2-other' }));
    daemon.write('settings.yaml', configMap('settings', { level: 'low' }));
    const names = ['keys', 'settings', 'all', 'scratch', 'memory'];
    daemon.apply({
      name: 'user',
      securityContext: { fsGroup: 2345 },
      containers: [
        {
          script: `while :; do cat /rx/keys/password /rx/all/level > "$DIR/now"; mv "$DIR/now" "$DIR/read"; sleep 0.05; done`,
          volumeMounts: [...names.map(mount), { name: 'settings', mountPath: '/rx/one', subPath: 'level' }],
        },
      ],
      volumes: [
        { name: 'keys', secret: { secretName: 'keys' } },
        { name: 'settings', configMap: { name: 'settings' } },
        { name: 'all', projected: { sources: [{ configMap: { name: 'settings' } }, { secret: { name: 'keys' } }] } },
        { name: 'scratch', emptyDir: {} },
        { name: 'memory', emptyDir: { medium: 'Memory' } },
      ],
    });
    daemon.apply({
      name: 'late',
      containers: [{ script: SLEEP, volumeMounts: [mount('missing')] }],
      volumes: [{ name: 'missing', configMap: { name: 'missing' } }],
    });
    await daemon.start('--record', file);
    const reads = (content: string) =>
      eventually(
        `the container reads ${content}`,
        () => readFileSync(join(daemon.directory, 'read'), 'utf8') === content,
      );
    await reads('hunter2-oldlow');
    daemon.write('keys.yaml', secret('keys', { password: 'hunter2-new', other: 'hunter2-other' }));
    daemon.write('settings.yaml', configMap('settings', { level: 'high' }));
    await reads('hunter2-newhigh');
    await eventually('a mount has failed', () =>
      daemon.journal().some((entry) => entry.kind === 'volume' && entry.error !== undefined),
    );
    daemon.write('missing.yaml', configMap('missing', { key: 'value' }));
    await daemon.reached('late', 'CONTAINER_RUNNING');
    for (const name of ['user', 'late']) daemon.withdraw(name);
    await eventually('the volumes are gone', () => {
      expect(mountedBelow(daemon.rootDir)).toEqual([]);
      const unmounts = daemon.journal().filter((entry) => entry.kind === 'volume' && entry.step === 'unmount');
      expect(unmounts).toHaveLength(names.length + 1);
      return true;
    });
    expect((await daemon.kill('SIGTERM')).code).toBe(0);

    const recorded = readFileSync(file);
    const entries = recorded[0] === 0x1f ? gunzipSync(recorded).toString() : recorded.toString();
    expect(entries).toContain('volumeFiles.write');
    expect(entries).not.toContain('hunter2');
    expect(entries).not.toContain(Buffer.from('hunter2-new').toString('base64'));
    await expectSame(daemon, file);

    // Another decision on a volume is found.
    const { same, difference } = await replayChanged(daemon, file, {
      file: 'src/streams/volumes/volume-work.ts',
      from: 'initialMs: 500',
      to: 'initialMs: 700',
    });
    expect({ same, difference }).toMatchObject({
      same: false,
      difference: { pod: 'late-node1_default', expected: 'sets a timer of 500 ms', actual: 'sets a timer of 700 ms' },
    });
  },
);

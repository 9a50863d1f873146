import { EMPTY, ignoreElements, map, type Observable, of, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Volume } from '../../../src/model/manifest/volume-defaults.js';
import type { Container, Pod } from '../../../src/model/pod/pod.js';
import { aPod } from '../../support/a-pod.js';
import { expectLanes } from '../lanes.js';
import { marbles } from '../marbles.js';
import { aStage, changing, fails, inOrder } from './pod-volumes-stage.js';

const SETTINGS: Volume = { name: 'settings', configMap: { name: 'settings', defaultMode: 0o644 } };
const SCRATCH: Volume = { name: 'scratch', emptyDir: {} };
const SHARE: Volume = { name: 'share', nfs: { server: 's', path: '/' } };

const podWith = (volume: Volume, subPath?: string): Pod =>
  aPod({
    uid: 'u',
    spec: {
      volumes: [volume],
      containers: [
        {
          name: 'main',
          image: 'i',
          volumeMounts: [{ name: volume.name, mountPath: '/v', ...(subPath !== undefined && { subPath }) }],
        },
      ],
    },
  });
const mainOf = ({ spec }: Pod): Container => spec.containers[0]!;

describe('the volumes of a pod', () => {
  it(
    'give an event for each failed attempt, and leave nothing while an object is missing',
    marbles(({ scheduler }) => {
      const { volumes, at, run, events, calls, records } = aStage(scheduler);
      at(0, () => volumes.mount(podWith(SETTINGS), ['e0']));
      run(4_000);
      expectLanes(events, { everyMs: 500 }).toBe({ FailedMount: 'FF-F---F' });
      expect(events[0]).toBe(
        '0 FailedMount MountVolume.SetUp failed for volume "settings" : configmap "settings" not found',
      );
      expect(calls).toEqual([]);
      expect(records[0]).toEqual({
        kind: 'volume',
        volume: 'settings',
        step: 'mount',
        durationMs: 0,
        error: 'configmap "settings" not found',
        pod: { uid: 'u', namespace: 'default', name: 'web' },
        causes: ['e0'],
      });
    }),
  );

  it(
    'of a kind that is not supported are refused at once, by name and kind, before anything is set up',
    marbles(({ scheduler }) => {
      const { volumes, at, run, events, ends, calls, records } = aStage(scheduler);
      at(100, () => volumes.mount(podWith(SHARE), ['e0']));
      run(200_000);
      const text =
        'unmounted volumes=[share], unattached volumes=[], failed to process volumes=[share]: ' +
        'failed to get Plugin from volumeSpec for volume "share" err=no volume plugin matched: ' +
        'volumes of kind nfs are not supported by this agent';
      expect(events).toEqual([`100 FailedMount Unable to attach or mount volumes: ${text}`]);
      expect(ends).toEqual([`100 ${text}`]);
      expect(calls).toEqual([]);
      expect(records).toEqual([
        {
          kind: 'volume',
          volume: 'share',
          step: 'mount',
          durationMs: 0,
          error: 'volumes of kind nfs are not supported by this agent',
          pod: { uid: 'u', namespace: 'default', name: 'web' },
          causes: ['e0'],
        },
      ]);
    }),
  );

  it(
    'are in the journal when they are mounted and unmounted, and when an update fails',
    marbles(({ scheduler }) => {
      const write = inOrder<'changed'>(of('changed'), fails('disk full'), of('changed'));
      const { volumes, at, run, events, records } = aStage(scheduler, {
        objects: changing('1', '1', '2'),
        files: { write },
      });
      const pod = podWith(SETTINGS);
      at(0, () => volumes.mount(pod, ['e0']));
      at(1_000, () => volumes.mount(pod, []));
      at(2_000, () => volumes.mount(pod, []));
      at(5_000, () => volumes.unmount(pod, ['e9']));
      run(10_000);
      const steps = records.flatMap((record) =>
        record.kind === 'volume' ? [[record.step, record.error ?? 'well', record.causes]] : [],
      );
      expect(steps).toEqual([
        ['mount', 'well', ['e0']],
        ['update', 'disk full', []],
        ['unmount', 'well', ['e9']],
      ]);
      expect(events).toEqual([]);
    }),
  );

  it(
    'whose update fails have an event from the fourth failure in a row on, after 3.5 s',
    marbles(({ scheduler }) => {
      const write = inOrder<'changed'>(of('changed'), fails('disk full'));
      const { volumes, at, run, events } = aStage(scheduler, { objects: changing('1', '2'), files: { write } });
      const pod = podWith(SETTINGS);
      at(0, () => volumes.mount(pod, []));
      at(1_000, () => volumes.mount(pod, []));
      run(9_000);
      expectLanes(events, { everyMs: 500 }).toBe('---------F-------F', {
        F: 'FailedMount MountVolume.SetUp failed for volume "settings" : disk full',
      });
    }),
  );

  it(
    'that fail the first time are taken down again, while those whose update fails keep their files',
    marbles(({ scheduler }) => {
      const write = inOrder<'changed'>(fails('disk full'), of('changed'), fails('disk full'), of('changed'));
      const setUp = inOrder<'made' | 'there'>(of('made'), of('made'), of('there'), of('there'));
      const { volumes, at, run, calls } = aStage(scheduler, {
        objects: changing('1', '1', '2'),
        files: { write, setUp },
      });
      const pod = podWith(SETTINGS);
      at(0, () => volumes.mount(pod, []));
      run(400);
      expect(calls).toEqual(['setUp', 'write', 'unbindSubPaths', 'tearDown']);
      run(900);
      expect(calls.splice(0)).toEqual(['setUp', 'write', 'unbindSubPaths', 'tearDown', 'setUp', 'write']);
      at(100, () => volumes.mount(pod, []));
      run(1_000);
      expect(calls).toEqual(['setUp', 'write']);
    }),
  );

  it(
    'are counted by plugin, with the seconds of each operation',
    marbles(({ scheduler }) => {
      const setUp = inOrder<never>(fails('read-only'), EMPTY);
      const { volumes, at, run, metrics } = aStage(scheduler, { files: { setUp } });
      const pod = podWith(SCRATCH);
      at(0, () => volumes.mount(pod, []));
      at(3_000, () => volumes.unmount(pod, []));
      run(10_000);
      const operation = (name: string, failed: boolean): string =>
        `storageOperation {"plugin":"kubernetes.io/empty-dir","operation":"${name}","failed":${failed},"seconds":0}`;
      expect(metrics).toEqual([
        operation('volume_mount', true),
        operation('volume_mount', false),
        'volumes [{"plugin":"kubernetes.io/empty-dir","desired":1,"actual":1}]',
        operation('volume_unmount', false),
        'volumes []',
      ]);
    }),
  );
});

describe('the mounts of a container', () => {
  const input = { variable: () => undefined, images: new Map<string, string>() };

  it(
    'come once their sub-paths are bound',
    marbles(({ scheduler }) => {
      const bindSubPath = (): Observable<never> => timer(300, scheduler).pipe(ignoreElements());
      const { volumes, at, run, calls, ends } = aStage(scheduler, { files: { bindSubPath } });
      const pod = podWith(SCRATCH, 'logs');
      at(0, () => volumes.mount(pod, []));
      at(100, () => volumes.mountsOf(pod, mainOf(pod), input));
      run(1_000);
      expect(calls).toEqual(['setUp', 'bindSubPath']);
      expect(ends[1]).toMatch(/^400 /);
      expect(ends[1]).toContain('"hostPath":"/root-dir/pods/u/volume-subpaths/scratch/main/0"');
    }),
  );

  it(
    'are refused without a path of the machine, which the log has, where a sub-path cannot be bound',
    marbles(({ scheduler }) => {
      const bindSubPath = (): Observable<never> => fails('/root-dir/secret leads out');
      const { volumes, at, run, ends, logged } = aStage(scheduler, { files: { bindSubPath } });
      const pod = podWith(SCRATCH, 'logs');
      at(0, () => volumes.mount(pod, []));
      at(100, () => volumes.mountsOf(pod, mainOf(pod), input));
      run(1_000);
      expect(ends.at(-1)).toBe('100 failed to prepare subPath for volumeMount "scratch" of container "main"');
      expect(logged).toEqual([
        {
          pod: { uid: 'u', namespace: 'default', name: 'web' },
          volume: 'scratch',
          error: '/root-dir/secret leads out',
        },
      ]);
    }),
  );

  it(
    'a mount point inside of a read-only volume is made after the sub-paths are bound, and its failure shows no path of the machine',
    marbles(({ scheduler }) => {
      const makeMountPoint = inOrder<never>(EMPTY, fails('/root-dir/secret is full'));
      const { volumes, at, run, calls, ends, logged } = aStage(scheduler, { files: { makeMountPoint } });
      const volumeMounts = [
        { name: 'scratch', mountPath: '/v', subPath: 'logs', readOnly: true },
        { name: 'memory', mountPath: '/v/inside' },
      ];
      const main = { name: 'main', image: 'i', volumeMounts };
      const spec = { volumes: [SCRATCH, { name: 'memory', emptyDir: {} }], containers: [main] };
      const pod = aPod({ uid: 'u', spec });
      at(0, () => volumes.mount(pod, []));
      at(100, () => volumes.mountsOf(pod, main, input));
      at(200, () => volumes.mountsOf(pod, main, input));
      run(1_000);
      expect(calls).toEqual(['setUp', 'setUp', 'bindSubPath', 'makeMountPoint', 'bindSubPath', 'makeMountPoint']);
      expect(ends.at(-1)).toBe(
        '200 failed to make the mount point "inside" inside of a read-only volume of container "main"',
      );
      expect(logged).toMatchObject([{ error: '/root-dir/secret is full' }]);
    }),
  );

  it(
    'a host path is checked before each start of a container, which is refused while the path is of another type',
    marbles(({ scheduler }) => {
      const answers = inOrder<never>(EMPTY, EMPTY, fails('/run/d.sock is not a socket file'), EMPTY);
      const checked: string[] = [];
      const checkHostPath = (path: string, type: string): Observable<never> => {
        checked.push(`${scheduler.now()} ${path} ${type}`);
        return answers();
      };
      const { volumes, at, run, calls, ends } = aStage(scheduler, { files: { checkHostPath } });
      const pod = podWith({ name: 'socket', hostPath: { path: '/run/d.sock', type: 'Socket' } }, 'logs');
      at(0, () => volumes.mount(pod, []));
      for (const ms of [100, 200, 300]) at(ms, () => volumes.mountsOf(pod, mainOf(pod), input));
      run(1_000);
      expect(checked).toEqual([0, 100, 200, 300].map((ms) => `${ms} /run/d.sock Socket`));
      expect(ends.filter((end) => !end.endsWith('done')).map((end) => end.slice(0, 90))).toEqual([
        expect.stringContaining('100 [{"containerPath":"/v"'),
        '200 cannot mount volume "socket" into container "main": /run/d.sock is not a socket file',
        expect.stringContaining('300 [{"containerPath":"/v"'),
      ]);
      // Nothing is bound from a path of the wrong type.
      expect(calls.filter((call) => call === 'bindSubPath')).toHaveLength(2);
    }),
  );

  it.each([true, false, undefined])('are relabelled where SELinux is on: %s', (hasSelinux) => {
    marbles(({ scheduler }) => {
      const { volumes, at, run, ends } = aStage(scheduler, { node: hasSelinux === undefined ? {} : { hasSelinux } });
      const pod = podWith(SCRATCH);
      at(0, () => volumes.mount(pod, []));
      at(100, () => volumes.mountsOf(pod, mainOf(pod), input));
      run(1_000);
      expect(ends[1]).toContain(`"selinuxRelabel":${hasSelinux ?? false}`);
    })();
  });

  it(
    'are refused by a runtime that makes none',
    marbles(({ scheduler }) => {
      const { volumes, at, run, ends } = aStage(scheduler, { node: { canMount: false } });
      const pod = podWith(SCRATCH);
      at(0, () => volumes.mount(pod, []));
      at(100, () => volumes.mountsOf(pod, mainOf(pod), input));
      run(1_000);
      expect(ends.at(-1)).toBe(
        '100 cannot mount volume "scratch" into container "main": ' +
          'the runtime makes no mounts; the embedded runtime needs root for them',
      );
    }),
  );
});

describe('the leftovers of a pod that is over', () => {
  it(
    'are a finding of housekeeping, which is the cause of their unmount',
    marbles(({ scheduler }) => {
      const found = inOrder(
        of([{ plugin: 'kubernetes.io/secret', name: 'keys' }, { name: 'scratch' }]),
        of([{ plugin: 'kubernetes.io/secret', name: 'keys' }, { name: 'scratch' }]),
        of([]),
      );
      const { volumes, at, run, calls, records, ends } = aStage(scheduler, { files: { found } });
      at(0, () => volumes.removeLeftovers('u'));
      at(1_000, () => volumes.removeLeftovers('u'));
      run(2_000);
      expect(records.map(({ kind, causes }) => [kind, causes])).toEqual([
        ['housekeeping', []],
        ['volume', ['e1']],
        ['volume', ['e1']],
      ]);
      expect(records[0]).toMatchObject({ finding: 'a pod that is over has left its volumes: keys, scratch' });
      expect(calls).toEqual(['found', 'found', 'unbindSubPaths', 'tearDown', 'unbindSubPaths', 'found']);
      expect(ends).toEqual(['0 done', '1000 done']);
    }),
  );
});

describe('the env files of a container', () => {
  it.each([
    [{}, ['read']],
    [{ readsEnvFiles: true }, ['read']],
    [{ readsEnvFiles: false }, []],
  ])('are read unless their gate is off: %j', (node, expected) =>
    marbles(({ scheduler }) => {
      const read = () => of(new TextEncoder().encode("K='v'\n"));
      const { volumes, at, run, calls, ends } = aStage(scheduler, { node, files: { read, setUp: () => of('made') } });
      const pod = podWith(SCRATCH);
      const fileKeyRef = { volumeName: 'scratch', path: 'env', key: 'K' };
      at(0, () => volumes.mount(pod, []));
      at(100, () =>
        volumes
          .envFiles(pod, { ...mainOf(pod), env: [{ name: 'K', valueFrom: { fileKeyRef } }] })
          .pipe(map((files) => files.size)),
      );
      run(200);
      expect(calls.filter((call) => call === 'read')).toEqual(expected);
      expect(ends).toEqual(['0 done', `100 ${expected.length}`, '100 done']);
    })(),
  );
});

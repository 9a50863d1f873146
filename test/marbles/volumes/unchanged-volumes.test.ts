import { EMPTY, ignoreElements, NEVER, of, Subject, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Volume } from '../../../src/model/manifest/volume-defaults.js';
import type { Container, Pod } from '../../../src/model/pod/pod.js';
import type { ReferenceChange, ReferencedName } from '../../../src/streams/ports/pod-references.js';
import { aPod, type PodSketch } from '../../support/a-pod.js';
import { fakePodReferences, notFound } from '../../support/fake-pod-references.js';
import { expectLanes } from '../lanes.js';
import { marbles } from '../marbles.js';
import { aStage, changing, fails, inOrder, type Stage } from './pod-volumes-stage.js';

const SETTINGS: Volume = { name: 'settings', configMap: { name: 'settings', defaultMode: 0o644 } };
const SCRATCH: Volume = { name: 'scratch', emptyDir: {} };
const LABELS: Volume = {
  name: 'labels',
  downwardAPI: { defaultMode: 0o644, items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] },
};
const TOKEN: Volume = {
  name: 'access',
  projected: { defaultMode: 0o644, sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3_600 } }] },
};
const ROOTS: Volume = {
  name: 'roots',
  projected: { defaultMode: 0o644, sources: [{ clusterTrustBundle: { name: 'roots', path: 'ca.pem' } }] },
};
const CERTIFICATE: Volume = {
  name: 'tls',
  projected: {
    defaultMode: 0o644,
    sources: [{ podCertificate: { signerName: 's', keyType: 'ED25519', credentialBundlePath: 'bundle' } }],
  },
};
const MINUTE = 60_000;
const FILES = { metadata: { namespace: 'default', name: 'settings' }, data: { a: '1' } };

const podWith = (volume: Volume, sketch: PodSketch = {}): Pod =>
  aPod({
    ...sketch,
    spec: {
      volumes: [volume, SCRATCH],
      containers: [{ name: 'main', image: 'i', volumeMounts: [{ name: volume.name, mountPath: '/v' }] }],
      ...sketch.spec,
    },
  });
const mainOf = ({ spec }: Pod): Container => spec.containers[0]!;
const INPUT = { variable: () => undefined, images: new Map<string, string>() };

/** Syncs the pod each minute, from minute 0 on. */
const syncEachMinute = ({ at, volumes }: Stage, podAt: (minute: number) => Pod, minutes: number): void => {
  for (let minute = 0; minute < minutes; minute += 1) at(minute * MINUTE, () => volumes.mount(podAt(minute), []));
};
/** `S` sets up, `W` writes, `D` takes down. */
const LEGEND = { S: 'setUp', W: 'write', D: 'tearDown', U: 'unbindSubPaths' };

describe('a volume whose files are set up', () => {
  it(
    'is left alone by syncs without a change, and compared with the disk ten minutes later',
    marbles(({ scheduler }) => {
      const stage = aStage(scheduler, { objects: changing('1') });
      syncEachMinute(stage, () => podWith(SETTINGS), 22);
      stage.run(22 * MINUTE);
      expectLanes(stage.timedCalls, { everyMs: MINUTE }).toBe('(SW)---------(SW)---------(SW)', LEGEND);
      expect(stage.ends).toHaveLength(22);
    }),
  );

  it(
    'is not counted as set up when it is left alone',
    marbles(({ scheduler }) => {
      const stage = aStage(scheduler, { objects: changing('1') });
      syncEachMinute(stage, () => podWith(SETTINGS), 5);
      stage.run(5 * MINUTE);
      expect(stage.metrics.filter((line) => line.startsWith('storageOperation'))).toHaveLength(1);
    }),
  );

  it(
    'is written again by the first sync after its object has changed, and after it has changed back',
    marbles(({ scheduler }) => {
      const stage = aStage(scheduler, { objects: changing('1', '1', '2', '2', '1', '1') });
      syncEachMinute(stage, () => podWith(SETTINGS), 6);
      stage.run(6 * MINUTE);
      expectLanes(stage.timedCalls, { everyMs: MINUTE }).toBe('(SW)-(SW)-(SW)', LEGEND);
    }),
  );

  it(
    'is written again with the notice of a change, and left alone by a notice without one',
    marbles(({ scheduler }) => {
      const changed$ = new Subject<ReferencedName>();
      const podReferences = { ...fakePodReferences(changing('1', '1', '2')), changed$ };
      const stage = aStage(scheduler, { ports: { podReferences } });
      syncEachMinute(stage, () => podWith(SETTINGS), 1);
      for (const minute of [1, 2])
        timer(minute * MINUTE, scheduler).subscribe(() =>
          changed$.next({ kind: 'ConfigMap', namespace: 'default', name: 'settings' }),
        );
      stage.run(5 * MINUTE);
      expectLanes(stage.timedCalls, { everyMs: MINUTE }).toBe('(SW)-(SW)', LEGEND);
    }),
  );

  it(
    'is written again with the notice of changed trust bundles where it projects some, and not otherwise',
    marbles(({ scheduler }) => {
      const changed$ = new Subject<ReferenceChange>();
      const trustBundles = inOrder(
        ...['AAAA', 'AAAA', 'BBBB'].map((one) =>
          of([{ name: 'roots', signerName: '', labels: {}, certificates: [one] }]),
        ),
      );
      // Another read of the ConfigMap would find a change.
      const podReferences = { ...fakePodReferences(changing('1', '2')), trustBundles, changed$ };
      const [projecting, other] = [0, 1].map(() => aStage(scheduler, { ports: { podReferences } }));
      syncEachMinute(projecting!, () => podWith(ROOTS), 1);
      syncEachMinute(other!, () => podWith(SETTINGS), 1);
      for (const minute of [1, 2])
        timer(minute * MINUTE, scheduler).subscribe(() => changed$.next({ kind: 'ClusterTrustBundles' }));
      other?.run(0);
      projecting?.run(5 * MINUTE);
      expectLanes(projecting?.timedCalls ?? [], { everyMs: MINUTE }).toBe('(SW)-(SW)', LEGEND);
      expectLanes(other?.timedCalls ?? [], { everyMs: MINUTE }).toBe('(SW)', LEGEND);
    }),
  );

  it(
    'is written again by the sync that follows a change of the labels it shows',
    marbles(({ scheduler }) => {
      const stage = aStage(scheduler);
      syncEachMinute(stage, (minute) => podWith(LABELS, { labels: { app: minute < 2 ? 'web' : 'api' } }), 5);
      stage.run(5 * MINUTE);
      expectLanes(stage.timedCalls, { everyMs: MINUTE }).toBe('(SW)-(SW)', LEGEND);
    }),
  );

  it(
    'is left alone by a change of the pod that its files do not show',
    marbles(({ scheduler }) => {
      const stage = aStage(scheduler, { objects: changing('1') });
      syncEachMinute(stage, (minute) => podWith(SETTINGS, { labels: { app: minute < 2 ? 'web' : 'api' } }), 5);
      stage.run(5 * MINUTE);
      expectLanes(stage.timedCalls, { everyMs: MINUTE }).toBe('(SW)', LEGEND);
    }),
  );

  it(
    'is written again by the first sync with a new token',
    marbles(({ scheduler }) => {
      const podToken = inOrder(...['one', 'one', 'two'].map((token) => of({ token, expiresAt: 1 })));
      const stage = aStage(scheduler, { ports: { podToken } });
      syncEachMinute(stage, () => podWith(TOKEN), 5);
      stage.run(5 * MINUTE);
      expectLanes(stage.timedCalls, { everyMs: MINUTE }).toBe('(SW)-(SW)', LEGEND);
    }),
  );

  it(
    'is written again with the notice of a new certificate of its pod, without a sync, and after none of another pod',
    marbles(({ scheduler }) => {
      const changed$ = new Subject<ReferencedName>();
      const keys = ['one', 'two', 'three'].map((privateKey) => ({ privateKey, certificateChain: '' }));
      const podCertificate = () => keys.shift()!;
      const stage = aStage(scheduler, {
        ports: { podCertificate, podReferences: { ...fakePodReferences(), changed$ } },
      });
      const notice = (name: string): void => changed$.next({ kind: 'PodCertificate', namespace: 'default', name });
      stage.at(0, () => stage.volumes.mount(podWith(CERTIFICATE), []));
      timer(2 * MINUTE, scheduler).subscribe(() => notice('web'));
      timer(4 * MINUTE, scheduler).subscribe(() => notice('other'));
      timer(5 * MINUTE, scheduler).subscribe(() =>
        changed$.next({ kind: 'PodCertificate', namespace: 'n', name: 'web' }),
      );
      timer(6 * MINUTE, scheduler).subscribe(() => notice('web'));
      stage.run(8 * MINUTE);
      expectLanes(stage.timedCalls, { everyMs: MINUTE }).toBe('(SW)-(SW)---(SW)', LEGEND);
    }),
  );

  it(
    'is set up again when a new container mounts another volume below it',
    marbles(({ scheduler }) => {
      const debug = {
        ...{ name: 'debug', image: 'i', targetContainerName: 'main' },
        volumeMounts: [
          { name: 'settings', mountPath: '/v' },
          { name: 'scratch', mountPath: '/v/logs' },
        ],
      };
      const stage = aStage(scheduler, { objects: changing('1') });
      syncEachMinute(
        stage,
        (minute) => podWith(SETTINGS, minute < 2 ? {} : { spec: { ephemeralContainers: [debug] } }),
        5,
      );
      stage.run(5 * MINUTE);
      // The last one is the empty directory, which only the new container mounts.
      expectLanes(stage.timedCalls, { everyMs: MINUTE }).toBe('(SW)-(SWS)', LEGEND);
    }),
  );

  it(
    'is set up again until a failed update has succeeded',
    marbles(({ scheduler }) => {
      const write = inOrder<'changed'>(of('changed'), fails('disk full'), fails('disk full'), of('changed'));
      // The third and all further reads find the content of the first.
      const setUp = inOrder<'made' | 'there'>(of('made'), of('there'));
      const stage = aStage(scheduler, { objects: changing('1', '2', '1'), files: { setUp, write } });
      syncEachMinute(stage, () => podWith(SETTINGS), 4);
      stage.run(4 * MINUTE);
      expectLanes(stage.timedCalls, { everyMs: 500 }).toBe('(SW) 59.5s (SW)(SW)-(SW)', LEGEND);
    }),
  );

  it(
    'is left alone while its object is missing, and when the object is back unchanged',
    marbles(({ scheduler }) => {
      const missing$ = fails('configmap "settings" not found');
      const configMap = inOrder<typeof FILES>(of(FILES), missing$, missing$, of(FILES));
      const podReferences = { ...fakePodReferences(), configMap };
      const stage = aStage(scheduler, { ports: { podReferences } });
      syncEachMinute(stage, () => podWith(SETTINGS), 4);
      stage.run(4 * MINUTE);
      const updates = stage.records.flatMap((record) => (record.kind === 'volume' ? [record.step] : []));
      expect(updates).toEqual(['mount', 'update', 'update']);
      expectLanes(stage.timedCalls, { everyMs: MINUTE }).toBe('(SW)', LEGEND);
    }),
  );

  it(
    'is set up again after it was taken down',
    marbles(({ scheduler }) => {
      const stage = aStage(scheduler, { objects: changing('1') });
      stage.at(0, () => stage.volumes.mount(podWith(SETTINGS), []));
      stage.at(MINUTE, () => stage.volumes.unmount(podWith(SETTINGS), []));
      stage.at(2 * MINUTE, () => stage.volumes.mount(podWith(SETTINGS), []));
      stage.run(5 * MINUTE);
      expectLanes(
        stage.timedCalls.filter((line) => !line.endsWith('found')),
        { everyMs: MINUTE },
      ).toBe('(SW)(UD)(SW)', LEGEND);
    }),
  );

  it(
    'is set up once by each life of the agent, also when the disk has it',
    marbles(({ scheduler }) => {
      const files = { setUp: () => of('there' as const), write: () => of('unchanged' as const) };
      const lives = [0, 2].map((start) => {
        const stage = aStage(scheduler, { objects: changing('1'), files });
        for (const minute of [start, start + 1])
          stage.at(minute * MINUTE, () => stage.volumes.mount(podWith(SETTINGS), []));
        return stage;
      });
      lives[0]?.run(5 * MINUTE);
      expectLanes(lives[0]?.timedCalls ?? [], { everyMs: MINUTE }).toBe('(SW)', LEGEND);
      expectLanes(lives[1]?.timedCalls ?? [], { everyMs: MINUTE }).toBe('--(SW)', LEGEND);
    }),
  );
});

describe('a volume of a container that starts', () => {
  /** Syncs the pod at 0, and starts its container at a time. */
  const starting = (stage: Stage, startsAt: number, signal?: AbortSignal): void => {
    const pod = podWith(SETTINGS);
    stage.at(0, () => stage.volumes.mount(pod, []));
    stage.at(startsAt, () => stage.volumes.mountsOf(pod, mainOf(pod), { ...INPUT, signal }));
  };
  const started = /^\d+ \[\{"containerPath"/;

  it(
    'is compared with the disk before, unless that was done within the last minute',
    marbles(({ scheduler }) => {
      const late = aStage(scheduler, { objects: changing('1') });
      const soon = aStage(scheduler, { objects: changing('1') });
      starting(late, 60_000);
      starting(soon, 59_000);
      late.run(2 * MINUTE);
      expectLanes(late.timedCalls, { everyMs: 1_000 }).toBe('(SW) 59s (SW)', LEGEND);
      expectLanes(soon.timedCalls, { everyMs: 1_000 }).toBe('(SW)', LEGEND);
    }),
  );

  it(
    'is waited for, and not when its set-up fails: the files from before are mounted',
    marbles(({ scheduler }) => {
      const slow$ = timer(500, scheduler).pipe(ignoreElements());
      const slow = aStage(scheduler, { objects: changing('1'), files: { write: inOrder<never>(EMPTY, slow$) } });
      const failing = aStage(scheduler, {
        objects: changing('1'),
        files: { write: inOrder<never>(EMPTY, fails('disk full')) },
      });
      starting(slow, MINUTE);
      starting(failing, MINUTE);
      slow.run(MINUTE + 1_000);
      const startsOf = ({ ends }: Stage): readonly string[] =>
        ends.filter((line) => started.test(line)).map((line) => line.replace(/ .*/, ' start'));
      expectLanes(startsOf(slow), { everyMs: 500 }).toBe({ start: '60.5s s' });
      expectLanes(startsOf(failing), { everyMs: 500 }).toBe({ start: '60s s' });
      expect(failing.records).toContainEqual(expect.objectContaining({ step: 'update', error: 'disk full' }));
    }),
  );

  it(
    'is waited for ten seconds at most',
    marbles(({ scheduler }) => {
      const stage = aStage(scheduler, { objects: changing('1'), files: { write: inOrder<never>(EMPTY, NEVER) } });
      starting(stage, MINUTE);
      stage.run(2 * MINUTE);
      const starts = stage.ends.filter((line) => started.test(line)).map((line) => line.replace(/ .*/, ' start'));
      expectLanes(starts, { everyMs: 1_000 }).toBe({ start: '70s s' });
    }),
  );

  it(
    'is not waited for while its object is missing',
    marbles(({ scheduler }) => {
      const missing$ = fails(notFound('configmap', 'settings').message);
      const podReferences = { ...fakePodReferences(), configMap: inOrder<typeof FILES>(of(FILES), missing$) };
      const stage = aStage(scheduler, { ports: { podReferences } });
      const pod = podWith(SETTINGS);
      stage.at(0, () => stage.volumes.mount(pod, []));
      stage.at(MINUTE, () => stage.volumes.mount(pod, []));
      stage.at(MINUTE + 100, () => stage.volumes.mountsOf(pod, mainOf(pod), INPUT));
      stage.run(2 * MINUTE);
      expect(stage.ends.filter((line) => started.test(line))).toEqual([expect.stringMatching(/^60100 /)]);
    }),
  );

  it(
    'is no longer waited for when the pod has to stop',
    marbles(({ scheduler }) => {
      const stage = aStage(scheduler, { objects: changing('1'), files: { write: inOrder<never>(EMPTY, NEVER) } });
      const abort = new AbortController();
      starting(stage, MINUTE, abort.signal);
      scheduler.schedule(() => abort.abort(), MINUTE + 3_000);
      stage.run(2 * MINUTE);
      expect(stage.ends.at(-1)).toMatch(/^63000 .*cancel/i);
      expect(stage.ends.filter((line) => started.test(line))).toEqual([]);
    }),
  );
});

import { concat, defer, EMPTY, ignoreElements, type Observable, of, Subject, throwError, timer } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { Volume } from '../../../src/model/manifest/volume-defaults.js';
import type { VolumeStatesView } from '../../../src/model/volumes/volume-states.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import type { ReferencedName } from '../../../src/streams/ports/pod-references.js';
import { volumeManager, type VolumeManager } from '../../../src/streams/volumes/volume-manager.js';
import { expectLanes } from '../lanes.js';
import { marbles } from '../marbles.js';

const SETTINGS: Volume = { name: 'settings', configMap: { name: 'settings' } };
const SCRATCH: Volume = { name: 'scratch', emptyDir: {} };

const aPod = (uid: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: uid, namespace: 'default', uid },
  spec: { containers: [] },
});

interface Stage {
  readonly manager: VolumeManager;
  readonly history: string[];
  /** How many volumes were mounted, at each count. */
  readonly counts: string[];
  readonly changed$: Subject<ReferencedName>;
  /** Runs something at a time and writes how it ended. */
  readonly at: (ms: number, name: string, work$: Observable<never>) => void;
  /** Runs until that time. */
  readonly run: (ms: number) => void;
}

interface StageOptions {
  /** By `mount settings`; each takes the first of these answers, and the last of them for ever. */
  readonly answers?: Readonly<Record<string, readonly (Observable<never> | string)[]>>;
  readonly volumes?: readonly Volume[];
  readonly found?: readonly Volume[];
}

const mountedIn = (states: Pick<VolumeStatesView, 'all'>): number =>
  states.all().filter(({ isMounted }) => isMounted).length;

const aStage = (scheduler: TestScheduler, options: StageOptions = {}): Stage => {
  const { answers = {}, volumes = [SETTINGS], found = [] } = options;
  const history: string[] = [];
  const counts: string[] = [];
  const say = (what: string): void => void history.push(`${scheduler.now()} ${what}`);
  const asked = new Map<string, number>();
  const operation =
    (step: string) =>
    (pod: Pod, { name }: Volume): Observable<never> =>
      defer(() => {
        const key = `${step} ${name}`;
        const turn = asked.get(key) ?? 0;
        asked.set(key, turn + 1);
        say(key);
        const answer = answers[key]?.[turn] ?? answers[key]?.at(-1) ?? EMPTY;
        return typeof answer === 'string' ? throwError(() => new Error(answer)) : answer;
      });
  const changed$ = new Subject<ReferencedName>();
  const manager = volumeManager({
    state: kubeletState(),
    setUp: operation('mount'),
    tearDown: operation('unmount'),
    wantedOf: () => volumes,
    foundOf: () => of(found),
    isUpdated: ({ configMap }) => configMap !== undefined,
    usesObject: (_pod, { configMap }, object) => 'name' in object && configMap?.name === object.name,
    changed$,
    failed: ({ volume, step, error }) => say(`failed to ${step} ${volume.name}: ${(error as Error).message}`),
    counted: (states) => void counts.push(`${scheduler.now()} counted ${mountedIn(states)}`),
    scheduler,
  });
  manager.run$.subscribe();
  return {
    manager,
    history,
    counts,
    changed$,
    at: (ms, name, work$) =>
      void concat(timer(ms, scheduler).pipe(ignoreElements()), work$).subscribe({
        complete: () => say(`${name} done`),
        error: (error: unknown) => say(`${name} ${(error as Error).message}`),
      }),
    run: (ms) => {
      scheduler.maxFrames = ms;
      scheduler.flush();
    },
  };
};

const takes = (ms: number, scheduler: TestScheduler): Observable<never> => timer(ms, scheduler).pipe(ignoreElements());

/** `M` mounts, `U` unmounts, `e` is a failure, `m` and `u` are ends of the waits of a worker. */
const LEGEND = {
  M: 'mount settings',
  U: 'unmount settings',
  e: 'failed to mount settings: no',
  m: 'worker done',
  u: 'end done',
};

describe('the volumes of a pod', () => {
  it(
    'are set up side by side, and the worker waits for the last of them',
    marbles(({ scheduler }) => {
      const slow = { 'mount settings': [takes(300, scheduler)], 'mount scratch': [takes(500, scheduler)] };
      const { manager, at, run, history } = aStage(scheduler, { volumes: [SETTINGS, SCRATCH], answers: slow });
      at(100, 'worker', manager.mount(aPod('a')));
      run(2_000);
      expectLanes(history, { everyMs: 100 }).toBe({ 'mount settings': '-m', 'mount scratch': '-m', worker: '------w' });
    }),
  );

  it(
    'that fail are tried again after 0.5, 1, 2, 4 s and so on, at most 122 s; the worker gives up after 123 s',
    marbles(({ scheduler }) => {
      const { manager, at, run, history } = aStage(scheduler, { answers: { 'mount settings': ['no'] } });
      at(0, 'worker', manager.mount(aPod('a')));
      run(500_000);
      const mounts = history.filter((line) => line.endsWith('mount settings'));
      expectLanes(mounts, { everyMs: 500 }).toBe({
        'mount settings': 'mm-m---m-------m 7.5s m 15.5s m 31.5s m 63.5s m 121.5s m 121.5s m 121.5s m',
      });
      expect(history.filter((line) => line.includes('worker'))).toEqual([
        '123000 worker unmounted volumes=[settings], unattached volumes=[], failed to process volumes=[]: context deadline exceeded',
      ]);
    }),
  );

  it(
    'that are set up again are waited for until each is done or has failed, 10 s at most',
    marbles(({ scheduler }) => {
      const never = takes(100_000, scheduler);
      const fails$ = concat(
        takes(200, scheduler),
        throwError(() => new Error('no')),
      );
      const { manager, at, run, history } = aStage(scheduler, {
        volumes: [SETTINGS, SCRATCH],
        answers: { 'mount settings': [EMPTY, takes(300, scheduler), never], 'mount scratch': [EMPTY, fails$, never] },
      });
      const mounts = (volume: string) => history.filter((line) => line.endsWith(`mount ${volume}`)).length;
      const again = (volume: string) =>
        manager.setUpAgain('a', [volume], () => volume === 'settings' && mounts(volume) > 1 && !isBusy);
      let isBusy = true;
      at(0, 'worker', manager.mount(aPod('a')));
      at(1_000, 'settings', again('settings'));
      timer(1_299, scheduler).subscribe(() => (isBusy = false));
      at(2_000, 'failing scratch', again('scratch'));
      at(
        3_000,
        'slow settings',
        manager.setUpAgain('a', ['settings'], () => false),
      );
      run(14_000);
      expect(history.slice(3)).toEqual([
        '1000 mount settings',
        '1300 settings done',
        '2000 mount scratch',
        '2200 failing scratch done',
        '2200 failed to mount scratch: no',
        '2700 mount scratch',
        '3000 mount settings',
        '13000 slow settings done',
      ]);
    }),
  );

  it(
    'wait no longer once the object that was missing is there',
    marbles(({ scheduler }) => {
      const { manager, at, run, history, changed$ } = aStage(scheduler, {
        answers: { 'mount settings': ['no', 'no', 'no', EMPTY] },
      });
      at(0, 'worker', manager.mount(aPod('a')));
      timer(2_000, scheduler).subscribe(() =>
        changed$.next({ kind: 'ConfigMap', namespace: 'default', name: 'settings' }),
      );
      run(10_000);
      expectLanes(history, { everyMs: 500 }).toBe('(Me)(Me)-(Me)(Mm)', LEGEND);
    }),
  );

  it(
    'that are there are brought up to date by each sync and by each change of their object, which no worker waits for',
    marbles(({ scheduler }) => {
      const { manager, at, run, history, changed$ } = aStage(scheduler, {
        answers: { 'mount settings': [EMPTY, takes(1_000, scheduler), EMPTY] },
      });
      at(0, 'worker', manager.mount(aPod('a')));
      at(1_000, 'worker', manager.mount(aPod('a')));
      timer(5_000, scheduler).subscribe(() =>
        changed$.next({ kind: 'ConfigMap', namespace: 'default', name: 'settings' }),
      );
      timer(6_000, scheduler).subscribe(() =>
        changed$.next({ kind: 'ConfigMap', namespace: 'default', name: 'other' }),
      );
      run(10_000);
      expectLanes(history, { everyMs: 1_000 }).toBe('(Mm)(Mm)---M', LEGEND);
    }),
  );

  it(
    'stay as they are once the containers end, also when their objects change, until the pod wants them again',
    marbles(({ scheduler }) => {
      const { manager, at, run, history, changed$ } = aStage(scheduler, {
        answers: { 'mount settings': [EMPTY, 'no'] },
      });
      const change = (): void => changed$.next({ kind: 'ConfigMap', namespace: 'default', name: 'settings' });
      at(0, 'worker', manager.mount(aPod('a')));
      timer(1_000, scheduler).subscribe(change);
      timer(2_000, scheduler).subscribe(() => manager.leave('a'));
      timer(5_000, scheduler).subscribe(change);
      at(6_000, 'worker', manager.mount(aPod('a')));
      at(8_000, 'end', manager.unmount(aPod('a')));
      run(10_000);
      expectLanes(history, { everyMs: 500 }).toBe('(Mm)-(Me)(Me)--------(Mem)---(Uu)', LEGEND);
    }),
  );

  it(
    'that an earlier agent has left are taken down, by their names on the disk',
    marbles(({ scheduler }) => {
      const { manager, at, run, history } = aStage(scheduler, { found: [SETTINGS] });
      at(1_000, 'end', manager.unmount(aPod('a')));
      run(5_000);
      expectLanes(history, { everyMs: 1_000 }).toBe('-(Uu)', LEGEND);
    }),
  );

  it(
    'are taken down at once although they wait for their next attempt, and never before the attempt under way has ended',
    marbles(({ scheduler }) => {
      const { manager, at, run, history } = aStage(scheduler, {
        answers: { 'mount settings': ['no', 'no', takes(3_000, scheduler)] },
      });
      at(0, 'worker', manager.mount(aPod('a')));
      at(2_000, 'end', manager.unmount(aPod('a')));
      run(4_400);
      expect(history.filter((line) => line.includes('unmount'))).toEqual([]);
      run(20_000);
      expectLanes(
        history.filter((line) => !line.includes('worker')),
        { everyMs: 500 },
      ).toBe('(Me)(Me)-M-----(Uu)', LEGEND);
    }),
  );

  it(
    'that cannot be taken down keep the worker for 123 s, and are tried on',
    marbles(({ scheduler }) => {
      const { manager, at, run, history } = aStage(scheduler, {
        found: [SCRATCH],
        volumes: [],
        answers: { 'unmount scratch': ['target is busy'] },
      });
      at(0, 'end', manager.unmount(aPod('a')));
      run(130_000);
      const ends = history.filter((line) => line.includes(' end '));
      expectLanes(ends, { everyMs: 1_000 }).toBe({ end: '123s e' });
      expect(ends).toEqual(['123000 end mounted volumes=[scratch]: context deadline exceeded']);
      expect(history.filter((line) => line.endsWith(' unmount scratch')).at(-1)).toBe('127500 unmount scratch');
    }),
  );

  it(
    'of one pod wait for no other pod',
    marbles(({ scheduler }) => {
      const never: StageOptions['answers'] = { 'mount settings': [takes(1_000_000, scheduler), EMPTY] };
      const { manager, at, run, history } = aStage(scheduler, { answers: never });
      at(0, 'stuck', manager.mount(aPod('a')));
      at(1_000, 'worker', manager.mount(aPod('b')));
      run(2_000);
      expect(history.at(-1)).toBe('1000 worker done');
    }),
  );

  it(
    'that are wanted again while they are taken down are set up again',
    marbles(({ scheduler }) => {
      const { manager, at, run, history } = aStage(scheduler, {
        answers: { 'unmount settings': [takes(2_000, scheduler)] },
      });
      at(0, 'worker', manager.mount(aPod('a')));
      at(1_000, 'end', manager.unmount(aPod('a')));
      at(2_000, 'worker', manager.mount(aPod('a')));
      run(10_000);
      expectLanes(history, { everyMs: 1_000 }).toBe('(Mm)U-(uMm)', LEGEND);
    }),
  );

  it(
    'are counted a second after a change, however many there are',
    marbles(({ scheduler }) => {
      const slow = { 'mount settings': [takes(400, scheduler)], 'mount scratch': [takes(600, scheduler)] };
      const { manager, at, run, counts } = aStage(scheduler, { volumes: [SETTINGS, SCRATCH], answers: slow });
      at(0, 'worker', manager.mount(aPod('a')));
      at(2_000, 'end', manager.unmount(aPod('a')));
      run(10_000);
      expectLanes(counts, { everyMs: 200 }).toBe({ counted: '-------2-------0' });
    }),
  );
});

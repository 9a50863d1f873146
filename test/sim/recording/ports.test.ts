import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  forkJoin,
  ignoreElements,
  map,
  merge,
  mergeMap,
  NEVER,
  Observable,
  of,
  Subject,
  switchMap,
  take,
  takeUntil,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { KubeletOptions } from '../../../src/kubelet-options.js';
import { CriError } from '../../../src/model/cri/cri-error.js';
import { podSet } from '../../../src/model/pod/pod-set.js';
import { mapRules, PORT_RULES, type PortRule } from '../../../src/tools/recording/ports/port-table.js';
import { valueAt } from '../../../src/tools/recording/ports/record-ports.js';
import { aPod } from '../../support/a-pod.js';
import { expectSame, kindsOf, playAgent } from './agent-stage.js';

type Ports = Record<string, unknown>;
type Call = (...args: readonly unknown[]) => Observable<unknown>;

/** Every port of a kind with its path. */
const portsOfKind = (kind: PortRule['kind']): readonly string[] => {
  const paths: string[] = [];
  mapRules(
    PORT_RULES,
    () => true,
    (path, rule) => rule.kind === kind && paths.push(path),
  );
  return paths;
};

/** Ports made of what `make` makes for each path. */
const eachPort = (paths: readonly string[], make: (path: string) => unknown): Ports =>
  mapRules(
    PORT_RULES,
    (path) => paths.some((port) => port === path || port.startsWith(`${path}.`)),
    (path) => make(path),
  );

const pod = aPod();
const ARGS: Readonly<Record<string, readonly unknown[]>> = {
  'probeHandlers.probe': [
    {
      type: 'liveness',
      kind: 'exec',
      pod,
      container: { name: 'main' },
      containerId: 'c1',
      podIp: '10.0.0.1',
      probe: {},
      timeoutSeconds: 1,
    },
  ],
  pullSecrets: [pod],
  'evictionFigures.pods': [[pod]],
  'volumeFiles.write': ['/v', new Map([['file', { data: new Uint8Array([1]), mode: 0o644 }]])],
};

const ANSWERS: Readonly<Record<string, unknown>> = {
  pullSecrets: [],
  'volumeFiles.read': new TextEncoder().encode("A='1'\n"),
};

describe('a port that is called', () => {
  for (const path of portsOfKind('call')) {
    it(`answers again, in time and in full: ${path}`, () => {
      const reply = { text: 'so', big: 7n, bytes: new Uint8Array([200, 1]), items: [], none: undefined };
      const answer = ANSWERS[path] ?? reply;
      const args = ARGS[path] ?? [{ id: 'x', many: [1n] }, 'more'];
      const played = playAgent(
        (ports) => {
          const call = valueAt(ports, path) as Call;
          const again$ = defer(() => call(...args)).pipe(map((value) => [ports.scheduler.now(), value]));
          return concat(again$, again$);
        },
        (scheduler) => ({ ports: eachPort([path], () => () => timer(7, scheduler).pipe(map(() => answer))) }),
      );
      expectSame(played);
      expect(played.heard).toEqual([
        [1007, expect.anything()],
        [1014, expect.anything()],
      ]);
      expect(played.recording.entries.filter(({ kind }) => kind === 'call')).toMatchObject([
        { port: path },
        { port: path },
      ]);
    });
  }

  it('fails again with an error of its class', () => {
    const error = new CriError('not-found', 'StopContainer', 'it is gone');
    const caught: unknown[] = [];
    const played = playAgent(
      ({ runtime }) => runtime.stopContainer({}).pipe(tap({ error: (thrown: unknown) => caught.push(thrown) })),
      (scheduler) => ({
        ports: { runtime: { stopContainer: () => timer(1, scheduler).pipe(mergeMap(() => throwError(() => error))) } },
      }),
    );
    expectSame(played);
    expect(caught[0]).toBe(error);
    expect(caught[1]).toBeInstanceOf(CriError);
    expect(caught[1]).toEqual(error);
    expect(kindsOf(played).slice(-2)).toEqual(['failed', 'over']);
  });

  it('answers at once where it did', () => {
    const played = playAgent(
      ({ runtime, files }) =>
        runtime
          .version({})
          .pipe(
            switchMap((version) =>
              merge(files.listDirectory('/a'), files.listDirectory('/b')).pipe(map((names) => [version, names])),
            ),
          ),
      () => ({
        ports: {
          runtime: { version: () => of({ version: '1' }) },
          files: { listDirectory: (path: string) => of([path]) },
        },
      }),
    );
    expectSame(played);
    expect(played.heard).toEqual([
      [{ version: '1' }, ['/a']],
      [{ version: '1' }, ['/b']],
    ]);
    expect(
      played.recording.entries.map((entry) => ('depth' in entry ? `${entry.kind} ${entry.depth}` : entry.kind)),
    ).toEqual([
      ...['made', 'started', 'call', 'reply 1', 'call', 'reply 2', 'outcome', 'completed 2'],
      ...['call', 'reply 2', 'outcome', 'completed 2', 'completed 1', 'over'],
    ]);
  });

  it('emits nothing to a subscriber that has left', () => {
    const late$ = new Subject<string>();
    const played = playAgent(
      ({ podFiles, scheduler }) => podFiles.read('/x').pipe(takeUntil(timer(5, scheduler))),
      () => ({ ports: { podFiles: { read: () => new Observable((subscriber) => void late$.subscribe(subscriber)) } } }),
      ({ scheduler }) => {
        late$.next('early');
        scheduler.runUntil(1005);
        late$.next('late');
      },
    );
    expectSame(played);
    expect(played.heard).toEqual(['early']);
    expect(kindsOf(played)).toEqual([
      ...['made', 'started', 'timer', 'call', 'reply', 'outcome', 'fired', 'over', 'given-up'],
    ]);
  });

  it('is left in the middle of what it says at once', () => {
    let said = 0;
    const endless$ = new Observable<number>((subscriber) => {
      while (!subscriber.closed && said < 1000) subscriber.next(++said);
    });
    const played = playAgent(
      ({ logFiles }) => concat(logFiles.size('/x').pipe(take(2)), of('then')),
      () => ({ ports: { logFiles: { size: () => endless$ } } }),
    );
    expectSame(played);
    expect([played.heard, said]).toEqual([[1, 2, 'then'], 2]);
  });

  it('is left at once by a caller that did not want it any more when it was called', () => {
    const given: string[] = [];
    const work = (path: string) =>
      path === 'bad'
        ? throwError(() => new Error('bad'))
        : new Observable<readonly string[]>(() => () => given.push(path));
    const played = playAgent(
      ({ files }) =>
        forkJoin([files.listDirectory('bad'), files.listDirectory('other')]).pipe(catchError(() => of('failed'))),
      () => ({ ports: { files: { listDirectory: work } } }),
    );
    expectSame(played);
    expect([played.heard, given]).toEqual([['failed'], ['other']]);
    expect(kindsOf(played).slice(-5)).toEqual(['failed', 'call', 'given-up', 'outcome', 'over']);
  });

  it('stirs another one while it is called, and while it is left', () => {
    const event$ = new Subject<string>();
    const stirring = new Observable<never>(() => {
      event$.next('called');
      return () => event$.next('left');
    });
    const played = playAgent(
      ({ runtime, files, scheduler }) => {
        const work$ = timer(1, scheduler).pipe(
          switchMap(() => files.remove('/x').pipe(takeUntil(timer(2, scheduler)))),
          ignoreElements(),
        );
        const heard$ = runtime
          .containerEvents()
          .pipe(concatMap((event) => concat(of(event), files.listDirectory(event as unknown as string))));
        return merge(heard$, work$);
      },
      () => ({
        ports: {
          runtime: { containerEvents: () => event$ },
          files: { remove: () => stirring, listDirectory: (path: string) => of([path, 'there']) },
        },
      }),
    );
    expectSame(played);
    expect(played.heard).toEqual(['called', ['called', 'there'], 'left', ['left', 'there']]);
  });
});

describe('a source of pods, and what stops the agent', () => {
  it('say the same again', () => {
    const stop$ = new Subject<{ reason: string }>();
    const source$ = new Subject<ReturnType<typeof podSet>>();
    const options: KubeletOptions = { sources: { mine: source$, other: EMPTY }, stop$ };
    const played = playAgent(
      (_, { sources, stop$: stopping$ = NEVER }) => merge(...Object.values(sources)).pipe(takeUntil(stopping$)),
      () => ({ options }),
      () => {
        source$.next(podSet([pod]));
        source$.next(podSet([]));
        stop$.next({ reason: 'enough' });
      },
    );
    expectSame(played);
    expect(played.heard).toEqual([podSet([pod]), podSet([])]);
    expect(played.recording.header.sources).toEqual(['mine', 'other']);
    const ports = played.recording.entries.flatMap((entry) => (entry.kind === 'call' ? [entry.port] : []));
    expect(ports).toEqual(['stop$', 'sources.mine', 'sources.other']);
  });
});

describe('a port that is asked', () => {
  it('is asked for every draw, and once for what never changes', () => {
    const draws = [0.25, 0.5];
    let asked = 0;
    const cgroups = { pathOf: (name: readonly string[]) => `/${name.join('/')}#${++asked}`, version: 2 };
    const played = playAgent(
      ({ random, nodeCgroups }) => {
        const { pathOf } = nodeCgroups!.cgroups;
        return of([random(), pathOf(['a']), pathOf(['b']), pathOf(['a']), random()]);
      },
      () => ({
        ports: { random: () => draws.shift() ?? 0.75, nodeCgroups: { cgroups, capacity: new Map([['cpu', 4n]]) } },
      }),
    );
    expectSame(played);
    const heard = played.heard as readonly (readonly unknown[])[];
    expect(heard[0]).toEqual([0.25, '/a#1', '/b#2', '/a#1', 0.5]);
  });

  it('answers with nothing where it did', () => {
    const classes: Readonly<Record<string, string>> = { gvisor: 'runsc' };
    const played = playAgent(
      (_, { runtimeClasses }) => of([runtimeClasses!('gvisor'), runtimeClasses!('none')]),
      () => ({ options: { runtimeClasses: (name) => classes[name] } }),
    );
    expectSame(played);
    expect(played.heard).toEqual([['runsc', undefined]]);
  });
});

describe('the journal', () => {
  it('names its entries as it did', () => {
    let count = 0;
    const played = playAgent(
      ({ record }) => of([record({ kind: 'work-due', causes: [] }), record({ kind: 'forgotten', causes: ['x'] })]),
      () => ({ ports: { record: () => `id-${(count += 7)}` } }),
    );
    expectSame(played);
    expect(played.recording.entries).toMatchObject([
      ...[{ kind: 'made' }, { kind: 'journal', id: 'id-7' }, { kind: 'journal', id: 'id-14' }],
      ...[{ kind: 'started' }, { kind: 'outcome' }, { kind: 'over' }],
    ]);
  });

  it('may stir the loop while it writes: what comes of that stands behind the entry', () => {
    const event$ = new Subject<number>();
    let count = 0;
    const record = ({ kind }: { readonly kind: string }): string => {
      const id = `id-${++count}`;
      if (kind === 'work-due') event$.next(count);
      return id;
    };
    const played = playAgent(
      (ports) =>
        merge(
          ports.runtime
            .containerEvents()
            .pipe(map((event) => [event, ports.record({ kind: 'forgotten', causes: [] })])),
          timer(3, ports.scheduler).pipe(map(() => ports.record({ kind: 'work-due', causes: [] }))),
        ),
      () => ({ ports: { record, runtime: { containerEvents: () => event$ } } }),
    );
    expectSame(played);
    expect(played.heard).toEqual([[1, 'id-2'], 'id-1']);
    const last = played.recording.entries.slice(-8).map((entry) => ('id' in entry ? entry.id : entry.kind));
    expect(last).toEqual(['call', 'timer', 'fired', 'id-1', 'reply', 'id-2', 'outcome', 'outcome']);
  });
});

describe('what the loop reports', () => {
  it('has to be reported again, with the pod by its name alone', () => {
    const told: unknown[] = [];
    const event = { pod, type: 'Normal', reason: 'Started', message: 'so', causes: ['id-1'] } as const;
    const played = playAgent(
      ({ recordEvent }) => defer(() => of(recordEvent(event))),
      () => ({ ports: { recordEvent: (one: unknown) => told.push(one) } }),
    );
    expectSame(played);
    expect(told).toEqual([event]);
    const { uid, namespace, name } = pod.metadata;
    expect(played.recording.entries.find(({ kind }) => kind === 'told')).toEqual({
      ...{ kind: 'told', port: 'recordEvent' },
      args: [{ ...event, pod: { uid, namespace, name } }],
    });
  });

  it('is not written where nothing depends on it', () => {
    const measured: unknown[] = [];
    const played = playAgent(
      ({ metrics, log }) =>
        defer(() => {
          metrics.podRelist(3);
          log.warn({ a: 1 }, 'so');
          return EMPTY;
        }),
      () => ({
        ports: {
          metrics: { podRelist: (n: number) => measured.push(n) },
          log: { warn: (_: object, m: string) => measured.push(m) },
        },
      }),
    );
    expectSame(played);
    expect(measured).toEqual([3, 'so']);
    expect(kindsOf(played)).toEqual(['made', 'started', 'over']);
  });
});

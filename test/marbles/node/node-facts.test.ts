import { NEVER, type Observable, of, throwError } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { describe, it } from 'vitest';
import type { VersionResponse } from '../../../src/generated/runtime/v1/api.js';
import type { NodeStatusFacts } from '../../../src/model/node/node-status.js';
import { nodeFacts } from '../../../src/streams/node/node-facts.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { aMachine, nodeSettings } from '../../support/node-object.js';
import { expectLanes } from '../lanes.js';
import { inTurn, marbles } from '../marbles.js';
import { quiet } from './node-stage.js';

const version = (runtimeVersion: string): VersionResponse => ({
  ...{ version: '0.1.0', runtimeName: 'containerd', runtimeVersion, runtimeApiVersion: 'v1' },
});
interface Answers {
  readonly versions?: readonly Observable<VersionResponse>[];
  readonly lookups?: readonly Observable<readonly string[]>[];
  readonly nodeIps?: readonly string[];
}
const read = (scheduler: TestScheduler, { versions = [of(version('1.7'))], lookups = [], nodeIps = [] }: Answers) => {
  const [version$, lookup$] = [inTurn(...versions), inTurn(...lookups)];
  return nodeFacts(
    {
      runtime: { version: () => version$ },
      runtimeName: 'containerd',
      readMachine: () => of(aMachine),
      lookupHost: () => lookup$,
      log: quiet,
      scheduler,
      wallClock: () => scheduler.now(),
    },
    { ...nodeSettings, nodeIps },
    { state: kubeletState(), health: { report: () => ({ problems: ['x'] }) } },
  );
};
/** What is read by one subscription after the other, as `<ms> <version> <addresses>`. */
const tellTimes = (scheduler: TestScheduler, facts$: Observable<NodeStatusFacts>, count: number): readonly string[] => {
  const told: string[] = [];
  for (let at = 0; at < count; at += 1) {
    facts$.subscribe(({ runtimeVersion, lookedUp }) =>
      told.push([scheduler.now(), runtimeVersion, ...lookedUp].join(' ')),
    );
    scheduler.flush();
  }
  return told;
};

describe('the facts of a Node', () => {
  it(
    'are read at once, without pressure by default',
    marbles(({ scheduler, expectObservable }) => {
      const facts: NodeStatusFacts = {
        machine: aMachine,
        lookedUp: ['192.0.2.2'],
        runtimeVersion: 'containerd://1.7',
        images: [],
        runtime: { problems: ['x'] },
        pressure: { memory: false, disk: false, pid: false },
        now: 0,
      };
      expectObservable(read(scheduler, { lookups: [of(['192.0.2.2'])] })).toBe('(f|)', { f: facts });
    }),
  );

  it(
    'does not wait more than 2 s for the runtime; what it said last stands',
    marbles(({ scheduler }) => {
      const refused$ = throwError(() => new Error('connection refused'));
      const facts$ = read(scheduler, {
        versions: [NEVER, of(version('1.7')), NEVER, refused$],
        nodeIps: ['192.0.2.2'],
      });
      // The reads follow each other; two of them wait.
      expectLanes(tellTimes(scheduler, facts$, 4), { everyMs: 500 }).toBe({
        'containerd://Unknown': '----c----',
        'containerd://1.7': '    ----c---(cc)',
      });
    }),
  );

  it(
    'does not wait more than 2 s for the resolver; what it said last stands',
    marbles(({ scheduler }) => {
      const versions = Array.from({ length: 4 }, () => of(version('1')));
      const unknown$ = throwError(() => new Error('ENOTFOUND'));
      const facts$ = read(scheduler, { versions, lookups: [unknown$, of(['192.0.2.2']), NEVER, unknown$] });
      expectLanes(tellTimes(scheduler, facts$, 4), { everyMs: 500 }).toBe('(ua)---(aa)', {
        u: 'containerd://1',
        a: 'containerd://1 192.0.2.2',
      });
    }),
  );
});

import { defer, of, Subject, throwError, type Observable } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import type { Node } from '../../../src/model/node/node.js';
import type { NodeObjectSettings } from '../../../src/model/node/node-settings.js';
import type { NodeEvent, NodeStatusFacts } from '../../../src/model/node/node-status.js';
import { type ApiClient, apiClient } from '../../../src/streams/cluster/api-client.js';
import type { NodeStartup } from '../../../src/streams/node/node-startup.js';
import type { NodeView } from '../../../src/streams/node/node-view.js';
import { type FakeNodeApi, fakeNodeApi } from '../../support/fake-node-api.js';
import { nodeSettings, nodeStatusFacts } from '../../support/node-object.js';

const nothing = (): void => undefined;
export const quiet = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** What a Node is made of, with an API server that keeps it. */
export interface NodeStage {
  readonly fake: FakeNodeApi;
  readonly client: ApiClient;
  readonly settings: NodeObjectSettings;
  /** What is known now; `undefined` where the machine cannot be read. */
  facts: Partial<NodeStatusFacts> | undefined;
  readonly facts$: Observable<NodeStatusFacts>;
  /** Sees what the server has, at once. */
  readonly view: Pick<NodeView, 'node' | 'note' | 'deleted$'> & { readonly deletion$: Subject<void> };
  readonly noted: Node[];
  /** Reasons, as `<ms> <reason>`. */
  readonly events: string[];
  readonly recordNodeEvent: (event: NodeEvent) => void;
  readonly startup: NodeStartup;
  /** Steps of the start, as `<ms> <step>`. */
  readonly steps: string[];
  readonly logProblems: (problems: readonly string[]) => void;
}

export const nodeStage = (scheduler: TestScheduler, settings: Partial<NodeObjectSettings> = {}): NodeStage => {
  const fake = fakeNodeApi(scheduler);
  const [events, steps, noted, deletion$]: [string[], string[], Node[], Subject<void>] = [[], [], [], new Subject()];
  const step = (name: string) => steps.push(`${scheduler.now()} ${name}`);
  const stage: NodeStage = {
    fake,
    client: apiClient(fake.api, { qps: -1, burst: 0, scheduler }),
    settings: { ...nodeSettings, ...settings },
    facts: {},
    facts$: defer(() =>
      stage.facts
        ? of({ ...nodeStatusFacts, now: scheduler.now(), ...stage.facts })
        : throwError(() => new Error('no machine')),
    ),
    view: { node: () => fake.node, note: (node) => noted.push(node), deleted$: deletion$, deletion$ },
    noted,
    events,
    recordNodeEvent: ({ reason }) => events.push(`${scheduler.now()} ${reason}`),
    startup: {
      attempted: () => step('attempted'),
      registered: () => step('registered'),
      found: () => step('found'),
      ready: () => step('ready'),
    },
    steps,
    logProblems: nothing,
  };
  return stage;
};

/** Runs until that time, and then everything that is due. */
export const runUntil = (scheduler: TestScheduler, run$: Observable<unknown>, ms: number): { completedAt?: number } => {
  const result: { completedAt?: number } = {};
  const running = run$.subscribe({ complete: () => (result.completedAt = scheduler.now()) });
  scheduler.schedule(() => running.unsubscribe(), ms);
  scheduler.flush();
  return result;
};

/** Does it at that time. */
export const at = (scheduler: TestScheduler, ms: number, act: () => void): void => {
  scheduler.schedule(act, ms);
};

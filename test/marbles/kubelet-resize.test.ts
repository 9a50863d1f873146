import { concat, defer, EMPTY, NEVER, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { admitPod } from '../../src/model/admission/admit-pod.js';
import type { Container, Pod, PodCondition } from '../../src/model/pod/pod.js';
import type { CheckpointName } from '../../src/model/resize/checkpoints.js';
import { podSet } from '../../src/model/pod/pod-set.js';
import type { Checkpoints } from '../../src/streams/ports/checkpoints.js';
import { nodeFacts } from '../support/node-facts.js';
import { expectLanes } from './lanes.js';
import { MINUTE, onNode, pod, SECOND, sets, type Stage } from './virtual-node.js';

/** The node has two CPUs. */
const admit = admitPod(() => ({ ...nodeFacts, allocatable: { cpu: '2' } }));

const MIB = 1_048_576;
const sized = (name: string, cpu: string, generation: number, fields: Partial<Container> = {}): Pod => {
  const { metadata, ...rest } = pod(
    {
      terminationGracePeriodSeconds: 5,
      containers: [
        { name, image: 'host', resources: { requests: { cpu }, limits: { memory: `${generation}Mi` } }, ...fields },
      ],
    },
    { uid: name, name, source: 'api' },
  );
  return { ...rest, metadata: { ...metadata, generation } };
};

const files = (): { readonly kept: Map<CheckpointName, string>; readonly checkpoints: Checkpoints } => {
  const kept = new Map<CheckpointName, string>();
  const write: Checkpoints['write'] = (name, content) =>
    defer(() => {
      kept.set(name, content);
      return EMPTY;
    });
  return { kept, checkpoints: { read: (name) => defer(() => of(kept.get(name))), write, pathOf: (name) => name } };
};

const resizeConditions = (conditions: readonly PodCondition[] = []): readonly string[] =>
  conditions
    .filter(({ type }) => type.startsWith('PodResize'))
    .map(({ type, reason, observedGeneration }) =>
      [type, reason, observedGeneration].filter((part) => part !== undefined).join(' '),
    );

/** The pods of the API from a time on, in milliseconds. */
type Step = readonly [number, readonly Pod[]];

/** Lines `<second> <pod> <conditions>` of each change of a resize in the status of a pod. */
const play = (options: Parameters<typeof onNode>[0], ...steps: readonly Step[]) => {
  const seen: string[] = [];
  const last = new Map<string, string>();
  const stage = onNode(options, ({ start, scheduler }) => {
    start({ sources: { api: sets(...steps) }, admit }).pods$.subscribe(({ pod: { metadata, status } }) => {
      const shown = resizeConditions(status?.conditions).join(', ');
      if (shown !== last.get(metadata.name)) seen.push(`${scheduler.now() / SECOND} ${metadata.name}: ${shown}`);
      last.set(metadata.name, shown);
    });
  });
  return { stage, seen };
};
const events = ({ events: all }: Stage): readonly string[] => all.filter((event) => event.includes('Resize'));
const did = ({ fake }: Stage): readonly string[] => fake.history.filter((line) => /start|stop |exit|update/.test(line));

describe('a pod that is resized through the API', () => {
  it('keeps its containers, which get the new amounts: first the memory, then the CPU', () => {
    const { stage, seen } = play(
      { untilMs: 30 * SECOND },
      [0, [sized('web', '500m', 1)]],
      [10 * SECOND, [sized('web', '1', 2)]],
    );
    expect(did(stage)).toEqual([
      '0 start web 0',
      `10000 update web 512 ${2 * MIB}`,
      `10000 update web 1024 ${2 * MIB}`,
    ]);
    expect(events(stage)).toEqual(['10000 ResizeStarted', '10000 ResizeCompleted']);
    expect(seen).toEqual(['0 web: ', '10 web: PodResizeInProgress 2', '10 web: ']);
  });

  it('is restarted if the policy of the changed resource asks for that, and that is no crash', () => {
    const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }];
    const { stage } = play(
      { behaviours: { web: [{ stopsAfterMs: 2 * SECOND }] }, untilMs: 30 * SECOND },
      [0, [sized('web', '1', 1, { resizePolicy })]],
      [10 * SECOND, [sized('web', '1', 2, { resizePolicy })]],
    );
    expectLanes(did(stage), { everyMs: SECOND }).toBe({
      'start web': '0 11s 1',
      'stop web': '10s 5',
      'exit web': '12s e',
    });
    expect(events(stage)).toEqual(['10000 ResizeStarted', '12000 ResizeCompleted']);
  });

  it('waits for room, and gets it once another pod is gone', () => {
    const { stage, seen } = play(
      { untilMs: 60 * SECOND },
      [0, [sized('web', '1', 1), sized('other', '1', 1)]],
      [10 * SECOND, [sized('web', '1500m', 2), sized('other', '1', 1)]],
      [30 * SECOND, [sized('web', '1500m', 2)]],
    );
    expect(events(stage)).toEqual(['10000 ResizeDeferred', '30000 ResizeStarted', '30000 ResizeCompleted']);
    expect(seen.filter((line) => line.includes('web'))).toEqual([
      '0 web: ',
      '10 web: PodResizePending Deferred 2',
      '30 web: PodResizeInProgress 2',
      '30 web: ',
    ]);
    expect(did(stage).filter((line) => line.includes('update'))).toHaveLength(2);
  });

  it('keeps what it has until its new amounts are saved', () => {
    const { checkpoints } = files();
    let refusals = 2;
    const full: Checkpoints['write'] = (name, content) =>
      defer(() => {
        refusals -= 1;
        return refusals < 0 ? checkpoints.write(name, content) : throwError(() => new Error('ENOSPC'));
      });
    const { stage } = play(
      { checkpoints: { ...checkpoints, write: full }, untilMs: MINUTE },
      [0, [sized('web', '500m', 1)]],
      [10 * SECOND, [sized('web', '500m', 2)]],
    );
    expect(did(stage)).toEqual(['0 start web 0', `32000 update web 512 ${2 * MIB}`]);
  });

  it('shows a failure, tries again, and shows that no longer once it is done', () => {
    const { stage, seen } = play(
      { updateProblem: (atMs) => (atMs < 15 * SECOND ? 'device busy' : undefined), untilMs: 2 * MINUTE },
      [0, [sized('web', '500m', 1)]],
      [10 * SECOND, [sized('web', '500m', 2)]],
    );
    expect(events(stage).map((event) => event.split(' ')[1])).toEqual([
      ...['ResizeStarted', 'ResizeError', 'ResizeCompleted'],
    ]);
    expect(seen.slice(0, 3)).toEqual([
      '0 web: ',
      '10 web: PodResizeInProgress 2',
      '10 web: PodResizeInProgress Error 2',
    ]);
    expect(seen.at(-1)).toMatch(/ web: $/);
  });

  it('whose resize is taken back while it waits has what it had', () => {
    const { stage, seen } = play(
      { untilMs: 60 * SECOND },
      [0, [sized('web', '1', 1)]],
      [10 * SECOND, [sized('web', '3', 2)]],
      [20 * SECOND, [{ ...sized('web', '1', 1), metadata: sized('web', '1', 3).metadata }]],
    );
    expect(events(stage)).toEqual(['10000 ResizeDeferred']);
    expect(seen.at(-1)).toBe('20 web: ');
    expect(did(stage)).toEqual(['0 start web 0']);
  });
});

describe('an agent that starts beside a pod that was resized', () => {
  const twoLives = (
    second: Pod,
    { checkpoints, firstLifeMs = 20 * SECOND }: { checkpoints?: Checkpoints; firstLifeMs?: number },
  ): Stage =>
    onNode({ ...(checkpoints && { checkpoints }), untilMs: 60 * SECOND }, ({ start, scheduler }) => {
      const first = start({
        sources: { api: sets([0, [sized('web', '500m', 1)]], [10 * SECOND, [sized('web', '1', 2)]]) },
        admit,
      });
      scheduler.schedule(() => {
        first.subscription.unsubscribe();
        start({ sources: { api: concat(of(podSet([second])), NEVER) }, admit });
      }, firstLifeMs);
    });

  it('finds what the pod was given, and leaves its container alone', () => {
    const { checkpoints, kept } = files();
    const stage = twoLives(sized('web', '1', 2), { checkpoints });
    expect(did(stage).filter((line) => Number(line.split(' ')[0]) >= 20_000)).toEqual([]);
    expect([...kept.keys()]).toEqual(['allocated_pods_state', 'actuated_pods_state']);
    expect(events(stage)).toEqual(['10000 ResizeStarted', '10000 ResizeCompleted']);
  });

  it('gives it what it was given again, if no checkpoint says that it was', () => {
    const stage = twoLives(sized('web', '1', 2), {});
    expect(did(stage).filter((line) => line.includes('update'))).toEqual([
      `10000 update web 512 ${2 * MIB}`,
      `10000 update web 1024 ${2 * MIB}`,
      `20000 update web 512 ${2 * MIB}`,
      `20000 update web 1024 ${2 * MIB}`,
    ]);
  });

  it('tries a resize that came while no agent ran', () => {
    const { checkpoints } = files();
    const stage = twoLives(sized('web', '1500m', 3), { checkpoints });
    expect(did(stage).slice(-2)).toEqual([`20000 update web 1024 ${3 * MIB}`, `20000 update web 1536 ${3 * MIB}`]);
    expect(events(stage).slice(2)).toEqual(['20000 ResizeStarted', '20000 ResizeCompleted']);
  });
});

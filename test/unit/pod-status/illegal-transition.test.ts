import { describe, expect, it } from 'vitest';
import { illegalTransition, withFormerEnds, withoutRunAnew } from '../../../src/model/pod-status/illegal-transition.js';
import type { ContainerStatus, PodSpec, PodStatus } from '../../../src/model/pod/pod.js';
import { aPod } from '../../support/a-pod.js';

const ended = (exitCode: number, reason = 'Error') => ({ terminated: { exitCode, reason } });
const waiting = { waiting: {} };
const running = { running: {} };
const rule = { action: 'Restart', exitCodes: { operator: 'In', values: [3] } };

const ofItself = (ofPod: string, restartPolicy: string): Partial<PodSpec> => ({
  restartPolicy: ofPod,
  containers: [{ name: 'main', restartPolicy }],
});

const problem = (
  spec: Partial<PodSpec>,
  list: 'containerStatuses' | 'initContainerStatuses',
  from: ContainerStatus['state'],
  to: ContainerStatus['state'],
) => {
  const status = (state: ContainerStatus['state']) => ({ [list]: [{ name: 'main', state } as ContainerStatus] });
  return illegalTransition(aPod({ spec }), status(from), status(to));
};

describe('a container that has ended', () => {
  const text = 'terminated container main attempted illegal transition to non-terminated state';
  it.each<
    [
      what: string,
      spec: Partial<PodSpec>,
      from: ContainerStatus['state'],
      to: ContainerStatus['state'],
      object?: string,
    ]
  >([
    ['for good under Never', { restartPolicy: 'Never' }, ended(1), running, text],
    ['for good under Never, to wait', { restartPolicy: 'Never' }, ended(0), waiting, text],
    ['well under OnFailure', { restartPolicy: 'OnFailure' }, ended(0), waiting, text],
    ['badly under OnFailure', { restartPolicy: 'OnFailure' }, ended(1), waiting],
    [
      'badly under OnFailure, with Never of its own: a lost sandbox starts it again',
      { restartPolicy: 'OnFailure', containers: [{ name: 'main', restartPolicy: 'Never' }] as PodSpec['containers'] },
      ended(1),
      running,
    ],
    [
      'badly under OnFailure, with a policy Never of its own, to wait',
      ofItself('OnFailure', 'Never'),
      ended(1),
      waiting,
    ],
    ['well under OnFailure, with a policy Never of its own', ofItself('OnFailure', 'Never'), ended(0), running, text],
    ['well under OnFailure, with a policy Always of its own', ofItself('OnFailure', 'Always'), ended(0), running],
    ['badly under Never, with a policy OnFailure of its own', ofItself('Never', 'OnFailure'), ended(1), running],
    ['badly under Never, with a policy Never of its own', ofItself('Never', 'Never'), ended(1), running, text],
    ['under Always, with a policy Never of its own', ofItself('Always', 'Never'), ended(1), running],
    ['under Always', { restartPolicy: 'Always' }, ended(0), running],
    ['under Never, and ends otherwise', { restartPolicy: 'Never' }, ended(0), ended(1)],
    ['not at all', { restartPolicy: 'Never' }, running, waiting],
    [
      'with a code of which a rule says that it starts again',
      {
        restartPolicy: 'Never',
        containers: [{ name: 'main', restartPolicy: 'Never', restartPolicyRules: [rule] }] as PodSpec['containers'],
      },
      ended(3),
      running,
    ],
    [
      'in a pod that can start again as a whole',
      {
        restartPolicy: 'Never',
        containers: [
          { name: 'main' },
          { name: 'b', restartPolicyRules: [{ ...rule, action: 'RestartAllContainers' }] },
        ] as PodSpec['containers'],
      },
      ended(1),
      running,
    ],
  ])('%s', (_what, spec, from, to, expected) => {
    expect(problem(spec, 'containerStatuses', from, to)).toBe(expected);
  });

  it('as an init container does not run again, unless it is one that stays', () => {
    const spec = (more: object): Partial<PodSpec> => ({
      restartPolicy: 'Never',
      initContainers: [{ name: 'main', ...more }] as PodSpec['initContainers'] & object,
    });
    expect(problem(spec({}), 'initContainerStatuses', ended(0), running)).toBe(
      'terminated init container main attempted illegal transition to non-terminated state',
    );
    expect(problem(spec({ restartPolicy: 'Always' }), 'initContainerStatuses', ended(0), running)).toBeUndefined();
    const onFailure = { ...spec({ restartPolicy: 'Never' }), restartPolicy: 'OnFailure' };
    expect(problem(onFailure, 'initContainerStatuses', ended(1), running)).toBeUndefined();
  });
});

describe('without what runs again', () => {
  const was = (containerID: string, state: ContainerStatus['state']) => ({
    containerStatuses: [{ name: 'main', containerID, state } as ContainerStatus],
  });
  it.each<[what: string, spec: Partial<PodSpec>, to: PodStatus, left: number]>([
    ['another instance that runs, with a policy of its own', ofItself('OnFailure', 'Never'), was('x://2', running), 0],
    ['the same instance', ofItself('OnFailure', 'Never'), was('x://1', running), 1],
    ['another instance that waits', ofItself('OnFailure', 'Never'), was('x://2', waiting), 1],
    [
      'another instance, with the policy of the pod',
      { restartPolicy: 'Never', containers: [{ name: 'main' }] },
      was('x://2', running),
      1,
    ],
  ])('%s', (_what, spec, to, left) => {
    expect(withoutRunAnew(aPod({ spec }), was('x://1', ended(0)), to).containerStatuses).toHaveLength(left);
  });
});

describe('an init container that runs again in another sandbox', () => {
  const init = (id: string, state: ContainerStatus['state']): ContainerStatus =>
    ({ name: 'init', containerID: `x://${id}`, state }) as ContainerStatus;
  const spec: Partial<PodSpec> = {
    restartPolicy: 'OnFailure',
    initContainers: [{ name: 'init' }] as PodSpec['initContainers'],
  };
  const main = { name: 'main', state: waiting } as ContainerStatus;
  const shown = (from: ContainerStatus, to: ContainerStatus, rest: Partial<PodSpec> = {}) =>
    withFormerEnds(
      aPod({ spec: { ...spec, ...rest } }),
      { phase: 'Running', initContainerStatuses: [from] },
      { phase: 'Pending', initContainerStatuses: [to], containerStatuses: [main] },
    );

  it('shows its former end, beside the new status of everything else', () => {
    const former = init('1', ended(0));
    expect(shown(former, init('2', running))).toEqual({
      phase: 'Pending',
      initContainerStatuses: [former],
      containerStatuses: [main],
    });
  });

  it.each<[what: string, from: ContainerStatus, to: ContainerStatus, rest?: Partial<PodSpec>]>([
    ['that has ended again', init('1', ended(0)), init('2', ended(1))],
    ['that had failed', init('1', ended(1)), init('2', running)],
    ['that had not ended', init('1', running), init('2', waiting)],
    ['under Always', init('1', ended(0)), init('2', running), { restartPolicy: 'Always' }],
    ['that is the same instance', init('1', ended(0)), init('1', running)],
    [
      'that is a sidecar',
      init('1', ended(0)),
      init('2', running),
      { initContainers: [{ name: 'init', restartPolicy: 'Always' }] as PodSpec['initContainers'] },
    ],
  ])('shows itself: one %s', (_what, from, to, rest) => {
    expect(shown(from, to, rest).initContainerStatuses).toEqual([to]);
  });

  it.each<
    [what: string, policy: string, from: ContainerStatus['state'], to: ContainerStatus['state'], isKept: boolean]
  >([
    ['that the runtime shows as never started', 'Never', ended(1), waiting, true],
    ['that ended well, and waits', 'OnFailure', ended(0), waiting, true],
    ['that runs', 'Never', ended(1), running, false],
    ['that failed, and waits', 'OnFailure', ended(1), waiting, false],
    ['that has ended otherwise', 'Never', ended(1), ended(0), false],
  ])('is no regular container: one %s under %s', (_what, restartPolicy, from, to, isKept) => {
    const regular = (state: ContainerStatus['state']) =>
      ({ name: 'main', containerID: 'x://1', state }) as ContainerStatus;
    const pod = aPod({ spec: { restartPolicy, containers: [{ name: 'main' }] as PodSpec['containers'] } });
    const status = withFormerEnds(pod, { containerStatuses: [regular(from)] }, { containerStatuses: [regular(to)] });
    expect(status.containerStatuses).toEqual([regular(isKept ? from : to)]);
  });

  it('adds no list to a status without one', () => {
    expect(withFormerEnds(aPod({ spec }), { initContainerStatuses: [init('1', ended(0))] }, {})).toEqual({});
  });
});

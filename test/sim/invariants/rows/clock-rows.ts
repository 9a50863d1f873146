import type { WorldEvent } from '../../../../src/tools/sim/world/world-event.js';
import { aPod } from '../../../support/a-pod.js';
import {
  agentKilled,
  agentStarted,
  answered,
  asked,
  begin,
  create,
  created,
  exited,
  forgotten,
  heard,
  imagePulled,
  imageRemoved,
  journal,
  pass,
  passEnded,
  POD,
  pull,
  removed,
  type Rows,
  running,
  sandbox,
  shown,
  started,
  stop,
  wanted,
} from '../story.js';

/** A sync of a container that waits, until `until`. Seconds of the virtual time. */
const waiting = (at: number, until: number, subject: 'restart' | 'image-pull' = 'restart'): WorldEvent =>
  journal(at, {
    ...{ kind: 'back-off', subject, container: 'main', delayMs: 10_000, until: until * 1000, step: 1, steps: 6 },
    resetAfterMs: 600_000,
  });
const clock = (at: number, aheadSeconds: number, whose: 'agent' | 'runtime' = 'agent'): WorldEvent => ({
  ...{ kind: whose === 'agent' ? 'clock-set' : 'runtime-clock-set', at: at * 1000, aheadMs: aheadSeconds * 1000 },
});
const showing = (id: string) => ({ containerStatuses: [running('main', id)] });
const delayed = aPod({
  spec: { containers: [{ name: 'main', image: 'host', readinessProbe: { initialDelaySeconds: 20 } }] },
});
const limited = aPod({ spec: { activeDeadlineSeconds: 60 } });
const brief = aPod({ spec: { activeDeadlineSeconds: 4 } });
const late = { phase: 'Failed', reason: 'DeadlineExceeded' } as const;
const nextSandbox = (at: number, sandboxId: string, attempt: number): WorldEvent =>
  ({ ...sandbox(at, sandboxId), attempt }) as WorldEvent;
const ended = [begin, pass(1), started(2, 'a'), exited(3, 'a', 1), waiting(4, 13)];

const pulled = [pull(3, 'gone'), waiting(3, 13, 'image-pull')];
const twice = [
  begin,
  started(1, 'a'),
  exited(2, 'a', 1),
  started(3, 'b', { attempt: 1 }),
  exited(4, 'b', 1, { attempt: 1 }),
];
const removal = (at: number, containerId: string) => answered(at, 'RemoveContainer', { containerId });

/** Stories of clocks that are set or that differ. */
export const clockRows: Rows = {
  'waits-end': [
    ['a wait that goes on', [ended, clock(5, -3600), waiting(20, 21 - 3600)], 'has waited 16000 ms'],
    ['a wait whose end is too far', [ended, clock(5, -3600), waiting(6, 13)], 'waits 3607000 ms more'],
    ['as long as it should be', [ended, clock(5, -3600), waiting(13, 13 - 3600)]],
    [
      'a run that stops an instance waits for the one before',
      [
        ...[begin, pass(1), started(2, 'a'), exited(3, 'a', 1), passEnded(3), started(4, 'b')],
        ...[pass(5), stop(5, 'b'), exited(6, 'b', 1), waiting(6, 13), passEnded(6)],
        ...[pass(14), waiting(14, 24), passEnded(14), pass(20), waiting(20, 24)],
      ],
    ],
    ['each instance waits', [ended, started(14, 'b'), exited(15, 'b', 1), waiting(16, 25), waiting(25, 25)]],
    [
      'a pull that waits',
      [begin, pulled, clock(5, -3600), waiting(20, 21 - 3600, 'image-pull')],
      'has waited 17000 ms',
    ],
    [
      'a pull that waits too long',
      [begin, pulled, clock(5, -3600), waiting(6, 13, 'image-pull')],
      'waits 3607000 ms more',
    ],
    [
      'each failed pull waits',
      [begin, pulled, pull(13, 'gone'), waiting(13, 23, 'image-pull'), waiting(23, 23, 'image-pull')],
    ],
    ['another agent has only just seen the end', [ended, agentKilled(10), agentStarted(11, 2), waiting(16, 22)]],
  ],
  'probes-are-patient': [
    [
      'a probe before its delay',
      [agentStarted(0), wanted(0, delayed), started(2, 'a'), shown(3, showing('a')), asked(10, 'a', 'readiness')],
      'its readiness probe came 8000 ms after its start (expected 20000 ms)',
    ],
    [
      'a probe of the instance before that reaches its successor',
      [
        agentStarted(0),
        wanted(0, delayed),
        started(2, 'b'),
        shown(3, showing('b')),
        asked(10, 'b', 'readiness', true, 'a'),
      ],
    ],
    [
      'a probe after it',
      [agentStarted(0), wanted(0, delayed), started(2, 'a'), shown(3, showing('a')), asked(22, 'a', 'readiness')],
    ],
    [
      'an instance of an earlier agent, whose start this one has from the runtime',
      [
        agentStarted(0),
        wanted(0, delayed),
        started(2, 'a'),
        agentStarted(3, 2),
        shown(4, showing('a')),
        asked(10, 'a', 'readiness'),
      ],
    ],
    [
      'the agent may have another version of the pod yet',
      [agentStarted(0), started(2, 'a'), wanted(3, delayed), shown(4, showing('a')), asked(10, 'a', 'readiness')],
    ],
  ],
  'attempts-rise': [
    [
      'an instance with the attempt of one that has run',
      [begin, started(1, 'a'), exited(2, 'a'), created(3, 'b')],
      'is created with attempt 0 (expected more than 0)',
    ],
    [
      'a sandbox with a lower one',
      [begin, nextSandbox(1, 's1', 1), nextSandbox(2, 's2', 0)],
      'is created with attempt 0 (expected more than 1)',
    ],
    ['each has a higher one', [begin, started(1, 'a'), exited(2, 'a'), created(3, 'b', { attempt: 1 })]],
    ['its predecessor was never started', [begin, created(1, 'a'), created(3, 'b')]],
    ['each sandbox has a higher one', [begin, nextSandbox(1, 's1', 0), nextSandbox(2, 's2', 1)]],
  ],
  'deadlines-are-real': [
    [
      'a clock that was set on',
      [agentStarted(0), wanted(1, limited), heard(1, 'ADD'), clock(5, 3600), shown(6, late, limited)],
      'fails for its deadline after 5000 ms (expected 60000 ms at least)',
    ],
    ['its time is over', [agentStarted(0), wanted(1, limited), heard(1, 'ADD'), shown(61, late, limited)]],
    [
      'another agent has the times of a right clock',
      [agentStarted(0), wanted(1, limited), agentStarted(2, 2), heard(3, 'ADD'), shown(6, late, limited)],
      'fails for its deadline after 5000 ms',
    ],
    [
      'another agent only has the times of the clock',
      [
        agentStarted(0),
        wanted(1, limited),
        clock(2, 3600),
        agentStarted(2, 2),
        heard(3, 'ADD'),
        shown(6, late, limited),
      ],
    ],
    [
      'a pod that has failed gets a later deadline',
      [
        [agentStarted(0), wanted(1, brief), heard(1, 'ADD'), shown(6, late, brief)],
        [wanted(7, limited), agentStarted(8, 2), heard(9, 'ADD'), shown(9, late, limited)],
      ],
    ],
    ['another reason', [begin, shown(6, { phase: 'Failed', reason: 'Evicted' }, POD)]],
  ],
  'removals-are-due': [
    ['the newest end', [twice, removal(5, 'b')], 'instance b with attempt 1 is removed (expected an older one to go)'],
    ['the only end', [begin, started(1, 'a'), exited(2, 'a'), removal(3, 'a')], 'instance a with attempt 0 is removed'],
    [
      'an end beside a newer instance that runs',
      [twice.slice(0, 3), started(3, 'b', { attempt: 1 }), removal(60, 'a')],
      'instance a',
    ],
    ['the older end', [twice, removal(5, 'a')]],
    ['the pod has to stop', [twice, pass(5, 'terminating'), removal(6, 'b')]],
    ['the pod has no source', [twice, wanted(5), removal(6, 'b')]],
    ['it ran in a former life of the pod', [twice, forgotten(5), removal(6, 'b')]],
    ['it never started', [begin, created(1, 'a'), removal(2, 'a')]],
    [
      'a newer one, which never started, is removed between the listing and the removal',
      [twice, created(5, 'c', { attempt: 2 }), removed(5, 'c', { attempt: 2 }), removal(6, 'b')],
    ],
    [
      'a newer one, which never started, was removed long before',
      [twice, created(5, 'c', { attempt: 2 }), removed(5, 'c', { attempt: 2 }), removal(30, 'b')],
      'instance b with attempt 1 is removed',
    ],
    [
      'an image that was pulled',
      [begin, imagePulled(10), imageRemoved(1189)],
      'without use (expected 1200000 ms at least)',
    ],
    [
      'an image whose container is gone',
      [twice, wanted(5), removed(400, 'a'), removed(401, 'b'), imageRemoved(1230)],
      'after 1149000 ms',
    ],
    [
      'an image whose use was last seen in the middle of a detection period',
      [twice, wanted(5), removed(400, 'a'), removed(401, 'b'), imageRemoved(1300)],
    ],
    [
      'an image whose container was too short to be seen',
      [begin, started(1100, 'a'), exited(1101, 'a'), removed(1150, 'a'), imageRemoved(1200)],
    ],
    ['an image in use', [begin, started(1, 'a'), exited(2, 'a'), imageRemoved(1300)], 'after 0 ms without use'],
    [
      'an image that another agent has not seen long enough',
      [begin, agentStarted(400, 2), imageRemoved(1500)],
      'after 1100000 ms',
    ],
    ['an image that is old enough', [begin, imagePulled(10), imageRemoved(1210)]],
    ['an image that was there when it was pulled', [begin, imagePulled(250, true), imageRemoved(1210)]],
  ],
};

/** By a runtime whose clock is ten minutes ahead. */
const endedTwice = [
  clock(0, 600, 'runtime'),
  begin,
  sandbox(0, 's1'),
  pass(1),
  started(1, 'a'),
  exited(2, 'a', 1),
  pass(3),
  create(3),
  started(3, 'b'),
  exited(9, 'b', 1),
];

/** Back-offs of containers whose runtime has another clock. */
export const apart = {
  fromItsStart: [...endedTwice, pass(13), create(13)],
  tooSoon: [...endedTwice, pass(10), create(10)],
} as const;

import {
  END,
  POD,
  agentKilled,
  agentStarted,
  answered,
  asked,
  begin,
  call,
  create,
  createWith,
  VOLUME,
  volumeGone,
  volumeMade,
  exited,
  forgotten,
  other,
  pass,
  passEnded,
  started,
  wanted,
  wantedByApi,
  type Rows,
} from '../story.js';

export const workRows: Rows = {
  'one-live-instance': [
    ['two at once', [begin, started(1, 'a'), started(2, 'b', { attempt: 1 })], 'b was started while a ran'],
    ['one after the other', [begin, started(1, 'a'), exited(2, 'a'), started(2, 'b', { attempt: 1 })]],
    ['two containers of a pod', [begin, started(1, 'a'), started(1, 'b', { container: 'other' })]],
    ['the same container of two pods', [begin, started(1, 'a'), started(1, 'b', { uid: 'uid-2' })]],
  ],
  'one-revision': [
    [
      'two static pods of one name',
      [begin, wanted(0, POD), started(1, 'a'), wanted(2, other), started(3, 'b', { uid: 'uid-2' })],
      'the same name',
    ],
    [
      'the first one has ended',
      [begin, started(1, 'a'), wanted(2, other), exited(3, 'a'), started(3, 'b', { uid: 'uid-2' })],
    ],
    [
      'pods of the API server',
      [wantedByApi(0, POD), started(1, 'a'), wantedByApi(2, other), started(3, 'b', { uid: 'uid-2' })],
    ],
  ],
  'one-run': [
    ['two passes at once', [begin, pass(1), pass(2)], 'sync began while sync went on'],
    ['forgotten while busy', [begin, pass(1), forgotten(2)], 'forgotten while sync went on'],
    ['a start outside of any run', [begin, pass(1), passEnded(2), create(3)], 'CreateContainer was called outside'],
    ['a start while it stops', [begin, pass(1, 'terminating', 30), create(2)], 'while the run was terminating'],
    [
      'a call that outlives its pass',
      [
        begin,
        pass(1),
        call(2, 'RunPodSandbox', { config: { metadata: { uid: POD.metadata.uid } } }),
        passEnded(3),
        wanted(4, POD),
      ],
      'still pending',
    ],
    [
      'a start within a sync, one after the other',
      [begin, pass(1), create(2), passEnded(3), pass(3), create(4), passEnded(5)],
    ],
    ['another life begins another pass', [begin, pass(1), agentKilled(2), agentStarted(3, 2), pass(4)]],
  ],
  'no-retry-within-a-run': [
    ['created twice', [begin, pass(1), create(2), create(3)], 'called twice within one run'],
    ['created by two passes', [begin, pass(1), create(2), passEnded(3), pass(13), create(14)]],
    ['two containers', [begin, pass(1), create(2), create(3, 'other')]],
  ],
  'promises-are-kept': [
    [
      'too early',
      [begin, pass(1), passEnded(2, 'sync', { next: { kind: 'resync', dueAt: 40_000 } })],
      'resync is due after 38000 ms (expected 60000 to 90000 ms)',
    ],
    [
      'too late',
      [begin, pass(1), passEnded(2, 'sync', { next: { kind: 'retry', dueAt: 20_000, reason: 'no' } })],
      'retry is due after 18000 ms (expected 10000 to 15000 ms)',
    ],
    ['not at all', [begin, pass(1), passEnded(2)], 'and did not come'],
    [
      'not at once',
      [begin, pass(1), passEnded(2, 'sync', { next: { kind: 'now' } }), wanted(3, POD)],
      'goes on at once, and did not',
    ],
    [
      'in time',
      [
        begin,
        pass(1),
        passEnded(2),
        pass(62),
        passEnded(63, 'sync', { next: { kind: 'retry', dueAt: 75_000, reason: 'no' } }),
        pass(75),
      ],
    ],
    ['at once', [begin, pass(1), passEnded(2, 'sync', { next: { kind: 'now' } }), pass(2), passEnded(END - 1)]],
  ],
  'no-call-storm': [
    [
      'forty-one in a minute',
      [begin, Array.from({ length: 41 }, (_, second) => create(1 + second)).flat()],
      '41 times in a minute',
    ],
    ['forty', [begin, Array.from({ length: 40 }, (_, second) => create(1 + second)).flat()]],
    ['one every two seconds', [begin, Array.from({ length: 60 }, (_, index) => create(1 + 2 * index)).flat()]],
  ],
  'volumes-in-place': [
    ['created without a volume', [begin, createWith(1, VOLUME)], `is created without its volume ${VOLUME}`],
    [
      'taken down while it runs',
      [begin, volumeMade(1, VOLUME), createWith(2, VOLUME), started(2, 'a'), volumeGone(3, VOLUME)],
      'is taken down',
    ],
    ['left of a pod that is gone', [begin, volumeMade(1, VOLUME), wanted(5)], 'has left its volume'],
    [
      'taken down after the end',
      [
        begin,
        volumeMade(1, VOLUME),
        createWith(2, VOLUME),
        started(2, 'a'),
        wanted(5),
        exited(6, 'a'),
        volumeGone(7, VOLUME),
      ],
    ],
    [
      'a volume of another container',
      [begin, create(1), started(1, 'a'), volumeMade(2, VOLUME), volumeGone(3, VOLUME)],
    ],
  ],
  'nothing-leaks': [
    ['timers of a dead agent', [begin, agentKilled(1, 2)], 'left 2 timers behind'],
    [
      'calls of a dead agent',
      [begin, call(1, 'RunPodSandbox'), agentKilled(2), wanted(3, POD)],
      'calls of a dead agent go on: RunPodSandbox',
    ],
    ['a dead agent that acts', [begin, agentKilled(1), call(2, 'RunPodSandbox')], 'a dead agent called'],
    ['a dead agent that writes', [begin, agentKilled(1), pass(2)], 'a dead agent wrote sync-started'],
    ['two listeners', [begin, call(1, 'GetContainerEvents'), call(2, 'GetContainerEvents')], 'two subscriptions'],
    [
      'a question after the end',
      [begin, started(1, 'a'), forgotten(2), asked(70, 'a', 'liveness')],
      '68000 ms after its pod was forgotten',
    ],
    [
      'an end without anything left',
      [
        begin,
        answered(1, 'RunPodSandbox'),
        agentKilled(2),
        wanted(3, POD),
        agentStarted(4, 2),
        call(5, 'GetContainerEvents'),
      ],
    ],
  ],
};

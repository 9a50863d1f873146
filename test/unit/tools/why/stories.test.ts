import { describe, it } from 'vitest';
import {
  edited,
  other,
  of,
  removed,
  forgotten,
  terminating,
  nothing,
  start,
  change,
  problem,
  rejected,
  up,
  ID,
  expectTold,
  type Story,
} from './a-story.js';
import { added, agentStarted, app, phase, sync, web, type Line } from './journal-lines.js';

const STORIES: Readonly<Record<string, Story>> = {
  'a container that starts again without a wait, because nothing shows when it ended before': {
    at: 20,
    lines: [
      ...up,
      [10, change('ContainerDied', 'c1'), app],
      [10, sync('runtime'), { ...of, causes: ['e8'] }],
      [10, { kind: 'back-off-unknown', restarts: 2 }, { ...app, causes: ['e9'] }],
      [11, start('c2'), { ...app, causes: ['e9'] }],
    ],
    says: [
      'app starts again without a wait: it was restarted 2 times before, but neither the runtime nor the agent knows when it ended',
    ],
  },
  'a container that starts without a wait, because the agent had stopped it': {
    at: 20,
    lines: [
      ...up,
      [10, change('ContainerDied', 'c1'), app],
      [10, sync('runtime'), { ...of, causes: ['e8'] }],
      [
        10,
        { kind: 'end-not-counted', exitCode: 137, because: 'was asked for by the agent' },
        { ...app, causes: ['e9'] },
      ],
      [11, start('c2'), { ...app, causes: ['e9'] }],
    ],
    says: ['app starts without a wait: its end with exit code 137 was asked for by the agent'],
  },
  'a container that starts without a wait, because its end is unknown': {
    at: 20,
    lines: [
      ...up,
      [10, change('ContainerDied', 'c1'), app],
      [10, sync('runtime'), { ...of, causes: ['e8'] }],
      [10, { kind: 'end-not-counted', because: 'is one whose cause is unknown' }, { ...app, causes: ['e9'] }],
      [11, start('c2'), { ...app, causes: ['e9'] }],
    ],
    says: ['app starts without a wait: its end is one whose cause is unknown'],
  },
  'a restart that is put off by what an earlier life of the agent has left': {
    at: 20,
    lines: [
      ...up,
      [10, change('ContainerDied', 'c1'), app],
      [10, sync('runtime'), { ...of, causes: ['e8'] }],
      [
        10,
        {
          kind: 'back-off',
          ...{ subject: 'restart', delayMs: 40_000, until: 50_000, step: 3, steps: 6, resetAfterMs: 600_000 },
          ...{ exitCode: 1, from: 'runtime' },
        },
        { ...app, causes: ['e9'] },
      ],
    ],
    says: ['the restart of app was put off by 40 s, derived from its containers in the runtime'],
  },
  'a container that was started and ended under one id, twice': {
    at: 30,
    lines: [
      ...up,
      [10, change('ContainerDied', 'c1'), app],
      [11, start('c1'), app],
      [12, change('ContainerDied', 'c1'), app],
    ],
    says: ['app ended 2 times in the last 20 s'],
  },
  'an edit that was undone, then the manifest deleted': {
    at: 60,
    lines: [
      ...up,
      [10, removed, of],
      [10, added, { pod: edited }],
      [12, forgotten, of],
      [20, removed, { pod: edited }],
      [20, added, of],
      [22, forgotten, { pod: edited }],
      [50, removed, of],
      [54, forgotten, of],
    ],
    says: ['web_default is gone for 6 s', '10 s ago  the pod was removed by the source file'],
    never: [/gone for 38 s/],
  },
  'edit, undo, delete, restore: the pod exists': {
    at: 60,
    lines: [
      ...up,
      [10, removed, of],
      [10, added, { pod: edited }],
      [12, forgotten, of],
      [13, change('ContainerRemoved', 'c1'), app],
      [20, removed, { pod: edited }],
      [20, added, of],
      [22, forgotten, { pod: edited }],
      [23, change('ContainerRemoved', 'x'), { pod: edited, container: 'app' }],
      [30, removed, of],
      [34, forgotten, of],
      [35, change('ContainerRemoved', 'c1'), app],
      [50, added, of],
      [50, sync('config'), of],
      [52, start('c9'), app],
      [53, phase('Running'), of],
    ],
    says: ['web_default is Running for 7 s', 'app runs for 8 s'],
    never: [/is gone/, /ended \d+ times/],
  },
  'a crash that goes on in the pod that was restored': {
    at: 40,
    lines: [
      ...up,
      [10, change('ContainerDied', 'c1'), app],
      [20, removed, of],
      [24, forgotten, of],
      [30, added, of],
      [30, sync('config'), of],
      [
        31,
        {
          kind: 'back-off',
          ...{ subject: 'restart', delayMs: 40_000, until: 70_000, step: 3, steps: 6, resetAfterMs: 600_000 },
          ...{ exitCode: 3 },
        },
        app,
      ],
    ],
    says: ['app waits to be started again (CrashLoopBackOff)'],
    never: [/has not started yet/],
  },
  'a pod that was forgotten, of which the runtime still removes things': {
    at: 60,
    lines: [...up, [10, removed, of], [12, forgotten, of], [40, change('ContainerRemoved', 'c1'), app]],
    says: ['web_default is gone for 48 s', 'next: nothing: the pod is gone'],
  },
  'a pod that was deleted': {
    at: 60,
    lines: [...up, [50, removed, of], [50, terminating, { ...of, causes: ['e8'] }], [57, forgotten, of]],
    says: ['web_default is gone for 3 s', '10 s ago  the pod was removed by the source file'],
  },
  'a job that was done before its manifest was deleted': {
    at: 60,
    lines: [...up, [20, phase('Succeeded'), of], [50, removed, of], [57, forgotten, of]],
    says: [
      'web_default is gone for 3 s',
      '10 s ago  the pod was removed by the source file',
      '40 s ago  the phase became Succeeded',
    ],
  },
  'a pod that was back before it was gone': {
    at: 60,
    lines: [...up, [50, removed, of], [50, terminating, of], [52, added, of], [55, nothing('it is cleaned up'), of]],
    says: ['is stopped and comes back: it was added again 8 s ago', 'next: it is started again'],
    never: [/next: nothing/],
  },
  'a manifest that broke: what has to be repaired': {
    at: 60,
    lines: [
      ...up,
      [25, problem('m/web.yaml:3:38: metadata.annotations.x: is the boolean true')],
      [
        25,
        problem('m/web.yaml: until this is repaired, default/web stays as last read', {
          keeps: [web],
          continues: true,
        }),
      ],
    ],
    says: [
      'unchanged: file m/web.yaml cannot be used since 35 s: m/web.yaml:3:38: metadata.annotations.x: is the boolean true',
    ],
    never: [/unchanged:.*until this is repaired/],
  },
  'a manifest with two mistakes': {
    at: 60,
    lines: [
      ...up,
      [25, problem('m/web.yaml:3:1: one')],
      [25, problem('m/web.yaml:4:1: two', { continues: true })],
      [25, problem('m/web.yaml: until this is repaired …', { keeps: [web], continues: true })],
    ],
    says: ['m/web.yaml:3:1: one', 'm/web.yaml:4:1: two'],
  },
  'a manifest that was broken, then broken in another way': {
    at: 60,
    lines: [
      ...up,
      [25, problem('m/web.yaml:3:1: one')],
      [25, problem('m/web.yaml: until this is repaired …', { keeps: [web], continues: true })],
      [35, problem('m/web.yaml:9:1: nine')],
      [35, problem('m/web.yaml: until this is repaired …', { keeps: [web], continues: true })],
    ],
    says: ['cannot be used since 25 s: m/web.yaml:9:1: nine'],
    never: [/unchanged:.*3:1: one/],
  },
  'a manifest that was repaired': {
    at: 60,
    lines: [
      ...up,
      [25, problem('m/web.yaml:3:1: one')],
      [25, problem('m/web.yaml: until this is repaired …', { keeps: [web], continues: true })],
      [30, { kind: 'config-recovered', source: 'file', from: 'm/web.yaml' }],
    ],
    says: ['next: routine sync in 2 s'],
    never: [/unchanged:/],
  },
  'a broken manifest of another pod': {
    at: 60,
    lines: [
      ...up,
      [25, problem('m/api.yaml:3:1: one', { from: 'm/api.yaml' })],
      [25, problem('m/api.yaml: until …', { from: 'm/api.yaml', keeps: [other], continues: true })],
    ],
    says: ['web_default is Running for 57 s'],
    never: [/unchanged:/, /api\.yaml/],
  },
  'an unknown pod, beside a broken manifest': {
    at: 60,
    of: 'new',
    lines: [...up, [25, problem('m/new.yaml:3:1: one', { from: 'm/new.yaml' })]],
    says: ['no pod "new" in the journal', 'file m/new.yaml cannot be used: m/new.yaml:3:1: one'],
  },
  'an unknown pod, beside a manifest that keeps its pod': {
    at: 60,
    of: 'new',
    lines: [
      ...up,
      [25, problem('m/web.yaml:3:1: one')],
      [25, problem('m/web.yaml: until this is repaired …', { keeps: [web], continues: true })],
    ],
    says: ['m/web.yaml:3:1: one'],
    never: [/until this is repaired/],
  },
  'a rejected pod': {
    at: 60,
    lines: [
      [0, agentStarted],
      [1, added, of],
      [1, rejected('api_default has port 8099/TCP'), of],
    ],
    says: [
      'was rejected 59 s ago: NodePorts: Predicate NodePorts failed (api_default has port 8099/TCP)',
      'next: nothing: a rejected pod is not tried again (change it, or remove it and add it again)',
    ],
    never: [/its first sync/],
  },
  'a rejected pod of a cluster': {
    at: 60,
    lines: [
      [0, agentStarted],
      [1, { kind: 'config', op: 'ADD', source: 'api' }, of],
      [1, rejected(), of],
    ],
    says: ['next: nothing: a rejected pod is not tried again (delete it and create it again)'],
  },
  'a rejected pod that was taken away': {
    at: 60,
    lines: [
      [0, agentStarted],
      [1, added, of],
      [1, rejected(), of],
      [30, removed, of],
      [30, terminating, of],
      [31, forgotten, of],
    ],
    says: ['web_default is gone for 29 s'],
    never: [/was rejected \d+ s ago: /],
  },
  'the same complaint every two seconds': {
    at: 20,
    lines: [
      ...up.slice(0, 3),
      ...[2, 4, 6, 8, 10, 12, 14, 16, 18].flatMap((second, index): readonly Line[] => [
        [second, sync('work'), { ...of, causes: index === 0 ? ['e2'] : [`e${3 + 3 * index}`] }],
        [
          second,
          {
            kind: 'sync-ended',
            work: 'sync',
            error: 'network is not ready',
            next: { kind: 'retry', dueAt: (second + 2) * 1000, reason: 'network is not ready' },
          },
          { ...of, causes: [`e${4 + 3 * index}`] },
        ],
        [second + 2, { kind: 'work-due' }, { ...of, causes: [`e${5 + 3 * index}`] }],
      ]),
    ],
    says: [/a sync failed: network is not ready \(9 times in the last 18 s\)/, 'the pod was added by'],
    never: [/network is not ready\n.*a sync failed: network is not ready/],
  },
  'a sandbox whose id is long': {
    at: 60,
    lines: [
      ...up,
      [50, { kind: 'actions', actions: [{ action: 'create-sandbox', because: `sandbox ${ID} is not ready` }] }, of],
      [51, start('c2'), { ...app, causes: ['e8'] }],
    ],
    says: ['sandbox e61ad1c53e24 is not ready'],
    never: [/e61ad1c53e24a/],
  },
  'a sandbox that was lost with its containers': {
    at: 60,
    lines: [
      ...up,
      [50, { kind: 'actions', actions: [{ action: 'create-sandbox', because: 'the sandbox is gone' }] }, of],
    ],
    says: ['app has not started yet'],
    never: [/app runs for/],
  },
  'a container that was removed from under the agent': {
    at: 60,
    lines: [...up, [50, change('ContainerRemoved', 'c1'), app]],
    says: ['app has not started yet'],
    never: [/app runs for/],
  },
  'a pod that was stopped does not run': {
    at: 60,
    lines: [...up, [40, removed, of], [40, terminating, of], [45, nothing('the pod has stopped'), of]],
    says: ['web_default has been stopped 15 s ago'],
    never: [/app runs for/],
  },
  'a pod without a phase yet': {
    at: 60,
    lines: [
      [0, agentStarted],
      [50, added, of],
    ],
    says: ['web_default is known for 10 s and has no phase yet', 'next: its first sync'],
  },
};

describe('why says what is so of', () => {
  it.each(Object.entries(STORIES))('%s', (_, story) => expectTold(story));
});

import { describe, expect, it } from 'vitest';
import type { JournalEvent } from '../../../../src/model/journal/journal.js';
import {
  type Line,
  added,
  agentStarted,
  app,
  died,
  file,
  phase,
  resync,
  broken,
  running,
  started,
  sync,
  web,
  why,
} from './journal-lines.js';

describe('why', () => {
  it('says of a running pod since when it runs, how that came, and when it is looked at next', () => {
    expect(why(running, 14)).toEqual([
      'web_default is Running for 11 s',
      '  app runs for 12 s',
      'next: routine sync in 48 s',
      'because:',
      '  11 s ago  the phase became Running',
      '  12 s ago  started app',
      '  13 s ago  a sandbox had to be created: the pod has none',
      '  13 s ago  the pod was added by file /etc/pods/web.yaml',
    ]);
  });

  it('shows no wait as longer than it was, after the clock was set back', () => {
    expect(why(running, -86_400)).toContain('next: routine sync in 1 min');
    const backOff: JournalEvent = {
      ...{ kind: 'back-off', subject: 'restart', delayMs: 10_000, until: 15_000, exitCode: 1 },
      ...{ step: 1, steps: 6, resetAfterMs: 600_000 },
    };
    const waiting: readonly Line[] = [...running, [6, died(1), app], [6, backOff, app]];
    expect(why(waiting, 8).join('\n')).toContain('restart of app in 7 s');
    expect(why(waiting, -86_400).join('\n')).toContain('restart of app in 9 s');
  });

  it('says what the runtime does not apply of the pod, until the pod is gone', () => {
    const message = 'The runtime does not apply seccompProfile of app; the pod runs without';
    const event: JournalEvent = { kind: 'event', type: 'Warning', reason: 'SecurityNotApplied', message };
    const told: readonly Line[] = [...running, [14, event, { pod: web }]];
    expect(why(told, 15).slice(0, 4)).toEqual([
      'web_default is Running for 12 s',
      '  app runs for 13 s',
      `  mind: ${message}`,
      'next: routine sync in 47 s',
    ]);
  });

  it('names the call that a sync waits for, while it does', () => {
    const slow: JournalEvent = { kind: 'call-slow', call: 'CreateContainer', waitedMs: 10_000 };
    const waiting: readonly Line[] = [...running.slice(0, 4), [12, slow, { ...app, causes: ['e4'] }]];
    expect(why(waiting, 20)).toEqual([
      'web_default is known for 19 s and has no phase yet',
      '  app has not started yet',
      'next: the end of CreateContainer app, which takes 18 s so far',
      'because:',
      '  8 s ago   CreateContainer app has not returned for 10 s',
      '  19 s ago  a sandbox had to be created: the pod has none',
      '  19 s ago  the pod was added by file /etc/pods/web.yaml',
    ]);
    const created: JournalEvent = { kind: 'call', call: 'CreateContainer', durationMs: 20_000 };
    expect(why([...waiting, [22, created, { ...app, causes: ['e4'] }]], 23)).toContain(
      'next: the end of a sync, which takes 22 s so far',
    );
  });

  it('says that a sync waits for the runtime to report the state of the pod', () => {
    const slow: JournalEvent = { kind: 'call-slow', waitedMs: 10_000 };
    const waiting: readonly Line[] = [
      ...running,
      [62, sync('sync'), { pod: web }],
      [72, slow, { pod: web, causes: ['e8'] }],
    ];
    const lines = why(waiting, 75);
    expect(lines).toContain('next: the runtime has to return the state of the pod, which takes 13 s so far');
    expect(lines[4]).toMatch(/^ +3 s ago +the runtime has not returned the state of the pod for 10 s$/);
    const actions: JournalEvent = { kind: 'actions', actions: [] };
    expect(why([...waiting, [76, actions, { pod: web }]], 77)).toContain(
      'next: the end of a sync, which takes 15 s so far',
    );
  });

  it('says of a crash loop its newest turn, and how many there were', () => {
    const backOff = (delayMs: number, until: number, step: number): JournalEvent => ({
      kind: 'back-off',
      subject: 'restart',
      exitCode: 1,
      delayMs,
      until: until * 1000,
      step,
      steps: 6,
      resetAfterMs: 600_000,
    });
    const loop: readonly Line[] = [
      ...running,
      [10, died(1), app], // e8
      [10, sync('ContainerDied'), { pod: web, causes: ['e8'] }],
      [10, started, { ...app, causes: ['e9'] }],
      [12, died(1), app], // e11
      [12, sync('ContainerDied'), { pod: web, causes: ['e11'] }],
      [12, backOff(10_000, 22, 1), { ...app, causes: ['e12'] }],
      [22, { kind: 'work-due' }, { pod: web, causes: ['e13'] }],
      [22, sync('work-due'), { pod: web, causes: ['e14'] }],
      [22, started, { ...app, causes: ['e15'] }],
      [24, died(1), app], // e17
      [24, sync('ContainerDied'), { pod: web, causes: ['e17'] }],
      [24, backOff(20_000, 44, 2), { ...app, causes: ['e18'] }],
      [
        24,
        {
          kind: 'sync-ended',
          work: 'sync',
          error: 'CrashLoopBackOff',
          next: { kind: 'retry', dueAt: 44_000, reason: 'x' },
        },
        { pod: web, causes: ['e18'] },
      ],
    ];
    expect(why(loop, 27, 'web', 'app')).toEqual([
      'web_default is Running for 24 s',
      '  app ended with exit code 1 3 s ago and waits to be started again (CrashLoopBackOff)',
      'next: restart of app in 17 s: back-off step 2 of 6 after exit code 1; resets after 10 min of running',
      'because:',
      '  3 s ago   the restart of app was put off by 20 s',
      '  3 s ago   app ended with exit code 1',
      '  5 s ago   started app',
      '  5 s ago   another check of the pod was due',
      '  15 s ago  the restart of app was put off by 10 s',
      '  26 s ago  the pod was added by file /etc/pods/web.yaml',
      '  app ended 3 times in the last 17 s',
    ]);
  });

  it.each<{ case: string; message: string; lines: readonly string[] }>([
    { case: 'in one line', message: 'cannot open /data\n', lines: ['    message: cannot open /data'] },
    {
      case: 'in several lines, the last ten of them',
      message: Array.from({ length: 12 }, (_, index) => `line ${index}\n`).join(''),
      lines: ['    message: …', ...Array.from({ length: 10 }, (_, index) => `             line ${index + 2}`)],
    },
    {
      case: 'without a word that a terminal would obey',
      message: 'red \u001b[31m\u0007\ttab\r\n',
      lines: ['    message: red \ufffd[31m\ufffd tab'],
    },
    { case: 'only if there was something', message: ' \n\n', lines: [] },
  ])('shows what was said last $case', ({ message, lines }) => {
    const end: JournalEvent = { ...died(1), message } as JournalEvent;
    const shown = why([...running, [20, died(2), app], [21, started, app], [22, end, app]], 25);
    expect(shown.slice(1, -1).filter((line) => /^ {4}/.test(line))).toEqual(lines);
    expect(shown[1]).toBe('  app ended with exit code 1 3 s ago');
  });

  it('shows what was said last while the next instance runs', () => {
    const end: JournalEvent = { ...died(1), message: 'bye' } as JournalEvent;
    const shown = why([...running, [20, end, app], [21, started, app]], 25);
    expect(shown.slice(1, 3)).toEqual(['  app runs for 4 s, ended 1 time before', '    message: bye']);
  });

  it('says of a completed job that nothing is to come', () => {
    const job: readonly Line[] = [
      ...running,
      [20, died(0), app],
      [20, sync('ContainerDied'), { pod: web, causes: ['e8'] }],
      [20, phase('Succeeded'), { pod: web, causes: ['e9'] }],
      [
        20,
        { kind: 'sync-ended', work: 'terminated', next: { kind: 'nothing', reason: 'the pod has succeeded' } },
        { pod: web, causes: ['e9'] },
      ],
    ];
    expect(why(job, 80)).toEqual([
      'web_default is Succeeded for 1 min',
      '  app ended with exit code 0 1 min ago',
      'next: nothing: the pod has succeeded',
      'because:',
      '  1 min ago       the phase became Succeeded',
      '  1 min ago       app ended with exit code 0',
      '  1 min 18 s ago  started app',
      '  1 min 19 s ago  a sandbox had to be created: the pod has none',
      '  1 min 19 s ago  the pod was added by file /etc/pods/web.yaml',
    ]);
  });

  it('says of a job that was cleaned up how it ended, not how it was cleaned up', () => {
    const sandboxDied: JournalEvent = { kind: 'runtime-changed', change: 'ContainerDied', containerId: 's' };
    const cleaned: readonly Line[] = [
      ...running,
      [20, died(0), app],
      [20, sync('ContainerDied'), { pod: web, causes: ['e8'] }],
      [20, phase('Succeeded'), { pod: web, causes: ['e9'] }],
      [20, { kind: 'sync-started', work: 'terminating', trigger: 'sync' }, { pod: web, causes: ['e8'] }],
      [21, { kind: 'call', call: 'StopPodSandbox', durationMs: 9 }, { pod: web, causes: ['e11'] }],
      [21, sandboxDied, { pod: web }],
      [21, { kind: 'sync-ended', work: 'terminating', next: { kind: 'now' } }, { pod: web, causes: ['e11'] }],
      [21, { kind: 'kill-requested', reason: 'the agent stops its pods' }, { pod: web }],
    ];
    expect(why(cleaned, 25).slice(0, 6)).toEqual([
      'web_default is Succeeded for 5 s',
      '  app ended with exit code 0 5 s ago',
      'next: another sync at once',
      'because:',
      '  5 s ago   the phase became Succeeded',
      '  5 s ago   app ended with exit code 0',
    ]);
  });

  it('says of a failed sync what failed in it', () => {
    const failed: readonly Line[] = [
      ...running,
      [20, sync('config'), { pod: web }],
      [21, { kind: 'call', call: 'CreateContainer', durationMs: 1, error: 'no room' }, { ...app, causes: ['e8'] }],
      [
        21,
        {
          kind: 'sync-ended',
          work: 'sync',
          error: 'no room',
          next: { kind: 'retry', dueAt: 31_000, reason: 'no room' },
        },
        { pod: web, causes: ['e8'] },
      ],
    ];
    const lines = why(failed, 25);
    expect(lines).toContain('next: another try in 6 s: no room');
    expect(lines[lines.indexOf('because:') + 1]).toBe('  4 s ago   CreateContainer app failed: no room');
  });

  it('says that a pod is left alone while its manifest cannot be used', () => {
    expect(why([...running, broken], 14)).toEqual([
      'web_default is Running for 11 s',
      '  app runs for 12 s',
      '  unchanged: file /etc/pods/web.yaml cannot be used since 4 s: web.yaml:3:5: spec.containers: required',
      'next: routine sync in 48 s',
      'because:',
      '  4 s ago   file /etc/pods/web.yaml cannot be used: web.yaml:3:5: spec.containers: required',
      '  13 s ago  the pod was added by file /etc/pods/web.yaml',
    ]);
  });

  it.each<[string, Line]>([
    ['recovered', [12, { kind: 'config-recovered', ...file }]],
    ['changed', [12, { kind: 'config', op: 'UPDATE', ...file }, { pod: web }]],
    ['gone', [12, { kind: 'config', op: 'REMOVE', source: 'file' }, { pod: web }]],
    ['been read again by another agent', [12, { kind: 'agent-started', version: '1', node: 'n' }]],
  ])('forgets the problem of a manifest that has %s', (_how, solution) => {
    const lines = why([...running, broken, solution], 14);
    expect(lines.some((line) => line.includes('unchanged:'))).toBe(false);
  });

  it('says of a removed pod how long its containers still have', () => {
    const stopping: readonly Line[] = [
      ...running,
      [20, { kind: 'config', op: 'REMOVE', ...file }, { pod: web }],
      [
        20,
        { kind: 'sync-started', work: 'terminating', trigger: 'config', graceSeconds: 30 },
        { pod: web, causes: ['e8'] },
      ],
    ];
    expect(why(stopping, -3600)).toContain(
      'next: running containers are killed in 30 s, at the end of its 30 s of grace',
    );
    expect(why(stopping, 32)).toEqual([
      'web_default is being stopped for 12 s',
      '  app runs for 30 s',
      'next: running containers are killed in 18 s, at the end of its 30 s of grace',
      'because:',
      '  12 s ago  stopping began with a grace period of 30 s',
      '  12 s ago  the pod was removed by file /etc/pods/web.yaml',
      '  31 s ago  the pod was added by file /etc/pods/web.yaml',
    ]);
  });

  it('says of a stopped container that it was stopped', () => {
    const stopped: readonly Line[] = [
      ...running,
      [20, { kind: 'kill-requested', reason: 'the agent stops its pods' }, { pod: web }],
      [20, { kind: 'sync-started', work: 'terminating', trigger: 'kill' }, { pod: web, causes: ['e8'] }],
      [21, died(143), app],
      [21, { kind: 'sync-ended', work: 'terminating', next: { kind: 'now' } }, { pod: web, causes: ['e9'] }],
    ];
    expect(why(stopped, 25)).toEqual([
      'web_default has been stopped 4 s ago',
      '  app ended with exit code 143 4 s ago',
      'next: another sync at once',
      'because:',
      '  4 s ago   app ended with exit code 143',
      '  5 s ago   stopping began',
      '  5 s ago   a stop was requested: the agent stops its pods',
      '  24 s ago  the pod was added by file /etc/pods/web.yaml',
    ]);
  });

  it('forgets that a pod was stopped once it is worked on again, as a static pod that comes back under its UID', () => {
    const back: readonly Line[] = [
      ...running,
      [20, { kind: 'kill-requested', reason: 'the agent stops its pods' }, { pod: web }],
      [20, { kind: 'sync-started', work: 'terminating', trigger: 'kill' }, { pod: web, causes: ['e8'] }],
      [21, { kind: 'sync-ended', work: 'terminating', next: { kind: 'now' } }, { pod: web, causes: ['e9'] }],
      [40, added, { pod: web }],
      [40, { kind: 'sync-started', work: 'sync', trigger: 'create' }, { pod: web, causes: ['e11'] }],
      [41, { kind: 'phase', from: 'Pending', to: 'Running' }, { pod: web, causes: ['e12'] }],
    ];
    expect(why(back, 45)[0]).toBe('web_default is Running for 4 s');
  });

  it('describes a pod that is gone', () => {
    expect(why([...running, [20, { kind: 'forgotten' }, { pod: web }]], 30).slice(0, 2)).toEqual([
      'web_default is gone for 10 s',
      'next: nothing: the pod is gone',
    ]);
  });

  it('describes a pod that waits for another one of the same name', () => {
    const successor = { ...web, uid: 'u2' };
    const waiting: readonly Line[] = [
      ...running,
      [20, { kind: 'config', op: 'REMOVE', ...file }, { pod: web }],
      [
        20,
        { kind: 'sync-started', work: 'terminating', trigger: 'config', graceSeconds: 30 },
        { pod: web, causes: ['e8'] },
      ],
      [20, added, { pod: successor }],
      [20, { kind: 'start-delayed', holder: web, retryAt: 32_000 }, { pod: successor, causes: ['e10'] }],
    ];
    expect(why(waiting, 24)).toEqual([
      'web_default waits for 4 s until web_default(u1) has released the name',
      'next: another check in 8 s',
      'because:',
      '  4 s ago  it could not start: web_default(u1) holds the name web_default',
      '  4 s ago  the pod was added by file /etc/pods/web.yaml',
    ]);
  });

  it('says of an image that cannot be pulled when it is tried again', () => {
    const stuck: readonly Line[] = [
      [0, agentStarted],
      [1, added, { pod: web }],
      [1, sync('config'), { pod: web, causes: ['e2'] }],
      [
        2,
        { kind: 'call', call: 'PullImage', target: 'nope:1', durationMs: 900, error: 'manifest unknown' },
        { ...app, causes: ['e3'] },
      ],
      [
        2,
        {
          kind: 'back-off',
          subject: 'image-pull',
          delayMs: 10_000,
          until: 12_000,
          step: 1,
          steps: 6,
          resetAfterMs: 600_000,
        },
        { ...app, causes: ['e4'] },
      ],
      [3, phase('Pending'), { pod: web, causes: ['e3'] }],
    ];
    expect(why(stuck, 5, 'web', 'app')).toEqual([
      'web_default is Pending for 2 s',
      '  app cannot start: PullImage nope:1 failed 3 s ago: manifest unknown',
      'next: the end of a sync, which takes 4 s so far',
      'because:',
      '  3 s ago  pulling the image of app again was put off by 10 s',
      '  3 s ago  PullImage nope:1 failed: manifest unknown',
      '  4 s ago  the pod was added by file /etc/pods/web.yaml',
    ]);
    const settled: readonly Line[] = [...stuck, [4, resync(60), { pod: web, causes: ['e3'] }]];
    expect(why(settled, 5)).toContain('next: pull of the image of app in 7 s: back-off step 1 of 6');
  });
});

import { describe, expect, it } from 'vitest';
import type { JournalEvent } from '../../../../src/model/journal/journal.js';
import { explainWhy } from '../../../../src/tools/why/why.js';
import {
  type Line,
  added,
  agentStarted,
  journal,
  phase,
  resync,
  running,
  sync,
  web,
  why,
  broken,
} from './journal-lines.js';

describe('why, of other things than a running pod', () => {
  it('says after a restart of the agent what was known before, and what the new one does first', () => {
    const restarted: readonly Line[] = [
      ...running,
      [20, { kind: 'agent-stopping', reason: 'SIGTERM' }],
      [30, agentStarted],
    ];
    expect(why(restarted.slice(0, -1), 25)).toContain('next: nothing until the agent runs again; it stopped 5 s ago');
    expect(why(restarted, 32).slice(0, 3)).toEqual([
      'web_default is Running for 29 s, as the agent knew it before its restart',
      '  app runs for 30 s',
      'next: the first check by the agent that started 2 s ago',
    ]);
    const adopted: readonly Line[] = [
      ...restarted,
      [31, added, { pod: web }],
      [31, sync('config'), { pod: web, causes: ['e10'] }],
      [31, resync(91), { pod: web, causes: ['e11'] }],
    ];
    expect(why(adopted, 32).slice(0, 3)).toEqual([
      'web_default is Running for 29 s',
      '  app runs for 30 s',
      'next: routine sync in 59 s',
    ]);
  });

  it('says that everything waits while the runtime does not work', () => {
    const sick: readonly Line[] = [
      ...running,
      [9, { kind: 'runtime-health', healthy: false, message: 'connection refused' }],
    ];
    expect(why(sick, 14)).toContain('next: waits for the runtime: connection refused');
    const well: readonly Line[] = [...sick, [10, { kind: 'runtime-health', healthy: true }]];
    expect(why(well, 14)).toContain('next: routine sync in 48 s');
  });

  it('says of a rejected pod why', () => {
    const rejected: readonly Line[] = [
      [0, agentStarted],
      [1, added, { pod: web }],
      [1, { kind: 'admission-rejected', reason: 'OutOfcpu', message: 'too much' }, { pod: web, causes: ['e2'] }],
    ];
    expect(why(rejected, 5)[0]).toBe('web_default was rejected 4 s ago: OutOfcpu: too much');
  });

  it('says for which pods a critical one waits, and of these why they are stopped', () => {
    const dns = { uid: 'u8', namespace: 'kube-system', name: 'dns' };
    const reason = 'it makes room for the critical pod dns_kube-system(u8), for which the node lacks cpu 150m';
    const waiting: readonly Line[] = [
      ...running,
      [20, added, { pod: dns }],
      [20, { kind: 'room-awaited', pods: [web], missing: 'cpu 150m' }, { pod: dns, causes: ['e9'] }],
      [20, { kind: 'kill-requested', reason }, { pod: web, causes: ['e10'] }],
      [20, sync('config'), { pod: dns, causes: ['e9'] }],
    ];
    expect(why(waiting, 24, 'dns')).toEqual([
      'dns_kube-system is known for 4 s and has no phase yet',
      'next: waits until the pods have stopped that make room for it: web_default(u1)',
      'because:',
      '  4 s ago  the node lacks cpu 150m for it, and it waits until the pods have stopped that make room: web_default(u1)',
      '  4 s ago  the pod was added by file /etc/pods/web.yaml',
    ]);
    const ofWeb = why(waiting, 24);
    expect(ofWeb).toContain(`  4 s ago   a stop was requested: ${reason}`);
    expect(ofWeb.filter((line) => line.includes('was added'))).toHaveLength(1);
    const acts = { kind: 'actions', actions: [{ action: 'create-sandbox', because: 'it has none' }] } as const;
    const free: readonly Line[] = [...waiting, [26, acts, { pod: dns, causes: ['e12'] }]];
    expect(why(free, 27, 'dns')[1]).toBe('next: the end of a sync, which takes 7 s so far');
  });

  it('says of an unknown pod which pods it knows, and what might have been it', () => {
    expect(why([...running, broken], 14, 'wob')).toEqual([
      'no pod "wob" in the journal',
      'pods it knows: web_default',
      'file /etc/pods/web.yaml cannot be used: web.yaml:3:5: spec.containers: required',
    ]);
    expect(why([], 14, 'wob')).toEqual(['no pod "wob" in the journal', 'it knows no pod yet']);
  });

  it('says of an unknown container which ones the pod has', () => {
    expect(why(running, 14, 'web', 'sidecar')).toEqual([
      'the journal has nothing on a container "sidecar" of web_default',
      'it knows: app',
    ]);
  });

  it.each(['web', 'web_default', 'default_web', 'web_default(u1)', 'u1'])('finds a pod by %s', (name) => {
    expect(why(running, 14, name)[0]).toBe('web_default is Running for 11 s');
  });

  it('explains one of several pods of a name and names the others', () => {
    const other = { uid: 'u9', namespace: 'prod', name: 'web' };
    expect(why([...running, [4, added, { pod: other }]], 14).slice(0, 2)).toEqual([
      '(several pods have this name; this is web_prod, not web_default)',
      'web_prod is known for 10 s and has no phase yet',
    ]);
  });

  it('passes over entries of a newer version', () => {
    const odd = { kind: 'from-the-future' } as unknown as JournalEvent;
    expect(why([...running, [8, odd, { pod: web, causes: ['e7'] }]], 14)).toEqual(why(running, 14));
  });
});

describe('a static pod', () => {
  const ofNode = { uid: 'u9', namespace: 'default', name: 'web-n' };
  const entries = journal([0, agentStarted], [1, added, { pod: ofNode }], [2, phase('Running'), { pod: ofNode }]);

  it('may be called by the name in its manifest', () => {
    expect(explainWhy({ entries, pod: 'web', now: 10_000 })[0]).toContain('web-n_default');
  });

  it('is not meant where another pod has that very name', () => {
    const both = journal(
      [0, agentStarted],
      [1, added, { pod: ofNode }],
      [2, added, { pod: web }],
      [3, phase('Running'), { pod: web }],
    );
    expect(explainWhy({ entries: both, pod: 'web', now: 10_000 })[0]).toContain('web_default');
  });
});

import { defer, EMPTY, mergeMap, of, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { CriError } from '../../../src/model/cri/cri-error.js';
import { noFiles } from '../../support/sync-context.js';
import { expectLanes } from '../lanes.js';
import { away, item, MINUTE, played, podWith, type Scene } from './garbage-stage.js';

describe('every minute', () => {
  it('what has ended is collected: nothing before the first minute, then once a minute', () => {
    const pods = [podWith('a', item('new', { createdAt: 2n }), item('old'))];
    const { calls } = played(() => ({ pods }), 2.5 * MINUTE);
    expectLanes(calls, { everyMs: MINUTE }).toBe({ 'log /logs/old': '-ll', 'remove old': '   -rr' });
  });

  it('a round that takes longer than a minute delays the next one', () => {
    const pods = [podWith('a', item('c2', { createdAt: 3n }), item('c1', { createdAt: 2n }), item('c0'))];
    const { calls } = played(() => ({ pods, callMs: 70_000 }), 4.5 * MINUTE);
    // One after the other, but none waits longer than five seconds for one that hangs. The tick of 120 s is lost.
    expectLanes(calls, { everyMs: 5_000 }).toBe({
      'log /logs/c0': '------------l- 110s l-',
      'remove c0': '   ------------r- 110s r-',
      'log /logs/c1': '-------------l 110s -l',
      'remove c1': '   -------------r 110s -r',
    });
  });

  it('containers go before the sandboxes that hold nothing any more', () => {
    const { calls } = played(
      () => ({
        pods: [
          podWith('gone', item('sb', { kind: 'sandbox', name: '' })),
          podWith('left', item('c1', { sandboxId: 'other' })),
        ],
        gone: ['gone', 'left'],
        files: noFiles,
      }),
      1.5 * MINUTE,
    );
    expect(calls.map((line) => line.replace('60000 ', ''))).toEqual(['remove c1', 'stop sb', 'remove sb']);
  });

  it('folders of logs are removed once no source wants their pod and the runtime has nothing of it', () => {
    const removed: string[] = [];
    played(
      () => ({
        pods: [podWith('left', item('c1', { state: 'running' }))],
        gone: ['left', 'nothing-left'],
        files: {
          ...noFiles,
          listDirectory: () => of(['default_web_nothing-left', 'default_web_left', 'default_web_wanted']),
          remove: (path) => {
            removed.push(path);
            return EMPTY;
          },
        },
      }),
      1.5 * MINUTE,
    );
    expect(removed).toEqual(['/logs/default_web_nothing-left']);
  });

  it('a folder of logs stays when its pod has come back before its turn', () => {
    const removed: string[] = [];
    const gone = ['first', 'second'];
    played(
      ({ scheduler }) => ({
        gone,
        files: {
          ...noFiles,
          listDirectory: () => of(['default_web_first', 'default_web_second']),
          remove: (path) => {
            removed.push(path);
            return timer(1, scheduler).pipe(mergeMap(() => (gone.pop(), EMPTY)));
          },
        },
      }),
      1.5 * MINUTE,
    );
    expect(removed).toEqual(['/logs/default_web_first']);
  });

  it('no pod counts as gone while a source is not ready', () => {
    const scene = { pods: [podWith('a', item('c1'))], gone: ['a'] };
    expect(played(() => ({ ...scene, areSourcesReady: false }), 1.5 * MINUTE).calls).toEqual([]);
    expect(played(() => scene, 1.5 * MINUTE).calls).toEqual(['60000 log /logs/c1', '60000 remove c1']);
  });

  it('a container in an unknown state is stopped before it is removed', () => {
    const pods = [podWith('a', item('lost', { state: 'unknown' }))];
    const { calls } = played(() => ({ pods, gone: ['a'] }), 1.5 * MINUTE);
    expect(calls).toEqual(['60000 stop lost', '60000 log /logs/lost', '60000 remove lost']);
  });

  it('a container whose logs cannot be removed stays, is said, and holds up nothing else', () => {
    const pods = [podWith('a', item('c1', { createdAt: 1n }), item('c2', { createdAt: 2n }))];
    const { calls, logged } = played(
      () => ({ pods, gone: ['a'], fails: { 'log /logs/c1': new Error('busy') } }),
      1.5 * MINUTE,
    );
    expect(calls).toEqual(['60000 log /logs/c2', '60000 remove c2']);
    expect(logged).toEqual(['container main could not be removed']);
  });

  it('what the runtime has lost already is no failure', () => {
    const pods = [podWith('a', item('c1'))];
    const lost = new CriError('not-found', 'RemoveContainer', 'no such container');
    const { logged } = played(() => ({ pods, gone: ['a'], fails: { 'remove c1': lost } }), 1.5 * MINUTE);
    expect(logged).toEqual([]);
  });

  it('a container is removed with its logs, the link to them and its termination message', () => {
    const calls: string[] = [];
    const noting = (what: string) => (path: string) =>
      defer(() => {
        calls.push(`${what} ${path}`);
        return EMPTY;
      });
    const { calls: removals } = played(
      () => ({
        pods: [podWith('a', item('c1'))],
        gone: ['a'],
        files: { ...noFiles, removeLog: noting('log'), remove: noting('file') },
      }),
      1.5 * MINUTE,
    );
    expect(calls).toEqual([
      'log /logs/c1',
      'file /links/web_default_main-c1.log',
      'file /root-dir/pods/uid/containers/main/00000001',
    ]);
    expect(removals).toEqual(['60000 remove c1']);
  });

  it('a container whose link cannot be removed stays', () => {
    const { calls } = played(
      () => ({
        pods: [podWith('a', item('c1'))],
        gone: ['a'],
        files: { ...noFiles, remove: () => throwError(() => new Error('read-only')) },
      }),
      1.5 * MINUTE,
    );
    expect(calls).toEqual([]);
  });

  it.each<{ case: string; name: string; fails?: Scene['fails']; goes: boolean }>([
    { case: 'of a container that has ended', name: 'web_default_main-ended1.log', goes: true },
    { case: 'of one that runs and may be rotating its log', name: 'web_default_main-running1.log', goes: false },
    {
      case: 'of an unknown container',
      name: 'web_default_main-unheard1.log',
      fails: { 'look at unheard1': new CriError('not-found', 'ContainerStatus', 'no such container') },
      goes: true,
    },
    { case: 'of no container', name: 'something.log', fails: { 'look at something': away }, goes: true },
    { case: 'that is no link to a log', name: 'web_default_main-ended1.txt', goes: false },
  ])('a dangling link $case goes: $goes', ({ name, fails, goes }) => {
    const removed: string[] = [];
    played(
      () => ({
        fails,
        // Links are removed even while a source is not ready.
        areSourcesReady: false,
        files: {
          ...noFiles,
          danglingLinks: (directory) => of(directory === '/links' ? [name] : []),
          remove: (path) => {
            removed.push(path);
            return EMPTY;
          },
        },
      }),
      1.5 * MINUTE,
    );
    expect(removed).toEqual(goes ? [`/links/${name}`] : []);
  });

  it('a dangling link that cannot be removed is said, and holds up no other', () => {
    const { logged } = played(
      () => ({
        files: {
          ...noFiles,
          danglingLinks: () => of(['first-ended1.log', 'second-ended2.log']),
          remove: () => throwError(() => new Error('read-only')),
        },
      }),
      1.5 * MINUTE,
    );
    expect(logged).toEqual(
      ['first-ended1.log', 'second-ended2.log'].map((name) => `the dangling link ${name} could not be removed`),
    );
  });

  it('a step that fails holds up no other, and an event about the node says why each failed', () => {
    const { events, calls } = played(
      () => ({
        pods: [podWith('left', item('c1'))],
        gone: ['left', 'nothing-left'],
        files: {
          ...noFiles,
          listDirectory: () => throwError(() => new Error('EACCES /logs')),
          danglingLinks: () => throwError(() => new Error('EACCES /links')),
        },
      }),
      1.5 * MINUTE,
    );
    expect(calls).toEqual(['60000 remove c1']);
    expect(events).toEqual(['60000 Warning ContainerGCFailed [EACCES /logs, EACCES /links]']);
  });

  it('a failed round is logged and reported by an event about the node, and the next one runs a minute later', () => {
    let listings = 0;
    const { logged, events } = played(
      () => ({
        reader: {
          listPods: () => {
            listings += 1;
            return throwError(() => away);
          },
        },
      }),
      2.5 * MINUTE,
    );
    expect(logged).toEqual(Array<string>(2).fill('the garbage of ended pods could not be removed'));
    // Three steps ask for a list, and fail for the same reason.
    expect(listings).toBe(6);
    expect(events).toEqual(['60000 Warning ContainerGCFailed away', '120000 Warning ContainerGCFailed away']);
  });
});

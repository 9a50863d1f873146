import { EMPTY, map, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Container } from '../../../src/model/pod/pod.js';
import { marbles } from '../marbles.js';
import { away, ended, IS_PRESENT, stageOf } from './start-stage.js';

describe('the link to a log', () => {
  const link = '/links/web_default_main-new.log';

  it(
    'is made once the container runs, and before its hook does',
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler, {
        instances: [ended({ restartCount: 4 })],
        container: { name: 'main', image: 'app:1', lifecycle: { postStart: { exec: { command: ['hook'] } } } },
        files: {
          link: (target, path) => {
            stage.calls.push(`link ${target} ${path}`);
            return EMPTY;
          },
        },
        runtime: {
          execSync: () => {
            stage.calls.push('hook');
            return of({ exitCode: 0, stdout: Buffer.of(), stderr: Buffer.of() });
          },
        },
      });
      expectObservable(stage.start$).toBe('(o|)', { o: 'ok' });
      scheduler.schedule(() => {
        const log = '/logs/default_web_uid-1/main/5.log';
        expect(stage.calls.slice(1)).toEqual(['start new', `link ${log} ${link}`, 'hook']);
      }, 1);
    }),
  );

  it(
    'is not missed when it cannot be made: that is only said',
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler, { files: { link: () => throwError(() => new Error('read-only')) } });
      expectObservable(stage.start$).toBe('(o|)', { o: 'ok' });
      scheduler.schedule(() => {
        expect(stage.logged).toEqual(['cannot link the log of a container']);
        expect(stage.observed).toEqual([IS_PRESENT, 'containerStarted container']);
      }, 1);
    }),
  );

  it(
    'is not made for a container that could not be started',
    marbles(({ scheduler }) => {
      const links: string[] = [];
      const stage = stageOf(scheduler, {
        runtime: { startContainer: () => throwError(() => away) },
        files: {
          link: (_target, path) => {
            links.push(path);
            return EMPTY;
          },
        },
      });
      stage.start$.subscribe();
      scheduler.schedule(() => expect(links).toEqual([]), 1);
    }),
  );
});

describe('a postStart hook', () => {
  const hooked: Container = {
    name: 'main',
    image: 'app:1',
    lifecycle: { postStart: { exec: { command: ['warm-up'] } } },
  };

  it(
    'holds the start back until it has ended',
    marbles(({ cold, expectObservable, scheduler }) => {
      const exec$ = cold<never>('---(x|)', { x: { exitCode: 0 } as never });
      const stage = stageOf(scheduler, { container: hooked, runtime: { execSync: () => exec$ } });
      expectObservable(stage.start$).toBe('---(o|)', { o: 'ok' });
    }),
  );

  it(
    'that fails kills the container, which has never been what its spec asks for',
    marbles(({ cold, expectObservable, scheduler }) => {
      const output = { stdout: Buffer.alloc(0), stderr: Buffer.from('oh no') };
      const exec$ = cold<never>('---(x|)', { x: { exitCode: 3, ...output } as never });
      const stage = stageOf(scheduler, { container: hooked, runtime: { execSync: () => exec$ } });
      expectObservable(stage.start$).toBe('---(o|)', {
        o:
          'PostStartHookError: Exec lifecycle hook ([warm-up]) for Container "main" in Pod "web_default(uid-1)" failed - ' +
          `error: command 'warm-up' exited with 3: oh no, message: "oh no"`,
      });
      scheduler.schedule(() => {
        expect(stage.calls).toEqual(['create main 0 main/0.log', 'start new', 'stop new']);
        expect(stage.events.slice(-3)).toEqual([
          'Started Container started',
          'FailedPostStartHook PostStartHook failed',
          'Killing FailedPostStartHook',
        ]);
      }, 5);
    }),
  );

  it(
    'that fails is what went wrong, whether or not the container can be killed',
    marbles(({ cold, expectObservable, scheduler }) => {
      const execSync = () => cold<never>('-#', {}, new Error('gone'));
      const stage = stageOf(scheduler, {
        container: hooked,
        runtime: { execSync, stopContainer: () => throwError(() => away) },
      });
      expectObservable(stage.start$).toBe('-(o|)', {
        o: 'PostStartHookError: Exec lifecycle hook ([warm-up]) for Container "main" in Pod "web_default(uid-1)" failed - error: gone',
      });
    }),
  );

  it(
    'that fails is followed by the preStop hook',
    marbles(({ cold, expectObservable, scheduler }) => {
      const container: Container = {
        ...hooked,
        lifecycle: { ...hooked.lifecycle, preStop: { sleep: { seconds: 4 } } },
      };
      const stage = stageOf(scheduler, { container, runtime: { execSync: () => cold<never>('-#') } });
      expectObservable(stage.start$.pipe(map(() => stage.calls.at(-1)))).toBe('4001ms (s|)', { s: 'stop new' });
    }),
  );

  it(
    'does not hold up a pod that is to be stopped: it is given up, and neither fails nor is the container killed here',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const abort = new AbortController();
      const exec$ = cold<never>('-');
      const stage = stageOf(scheduler, {
        container: hooked,
        runtime: { execSync: () => exec$ },
        signal: abort.signal,
      });
      scheduler.schedule(() => abort.abort(), 3);
      expectObservable(stage.start$).toBe('---(o|)', { o: 'SyncCancelled: the run was cancelled by a newer update' });
      expectSubscriptions(exec$.subscriptions).toBe('^--!');
      scheduler.schedule(() => {
        expect(stage.calls).toEqual(['create main 0 main/0.log', 'start new']);
        expect(stage.events.at(-1)).toBe('Started Container started');
      }, 5);
    }),
  );
});

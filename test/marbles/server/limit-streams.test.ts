import { describe, it } from 'vitest';
import { TooManyStreams } from '../../../src/model/server/stream-refusal.js';
import { limitStreams } from '../../../src/server/streaming/limit-streams.js';
import { marbles } from '../marbles.js';

const tooMany = (reason: string) => new TooManyStreams(reason);
const OF_POD = tooMany('the pod has 2 open streams, and may have no more');
const OF_NODE = tooMany('the node has 3 open streams, and may have no more');

describe('a stream', () => {
  it(
    'is refused at once while its pod or the node has the most, and counts until its end',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const limit = limitStreams({ perPod: 2, total: 3 });
      const stream$ = cold('  -----|');
      const web$ = stream$.pipe(limit('web'));
      const db$ = stream$.pipe(limit('db'));
      expectObservable(web$, '^           ').toBe('-----|');
      expectObservable(web$, '-^--!       ').toBe('-    ');
      // The third of the pod.
      expectObservable(web$, '--^         ').toBe('--#', {}, OF_POD);
      expectObservable(db$, ' ---^        ').toBe('--------|');
      // The third of the pod again: the node has three, but the reason of the pod comes first.
      expectObservable(web$, '---^        ').toBe('---#', {}, OF_POD);
      // One of `web` was unsubscribed at 4, and its place is free.
      expectObservable(web$, '----^       ').toBe('---------|');
      expectObservable(db$, ' ----^       ').toBe('----#', {}, OF_NODE);
      // One of `web` ended at 5.
      expectObservable(db$, ' ------^     ').toBe('-----------|');
      expectSubscriptions(stream$.subscriptions).toBe([
        '^----!      ',
        '-^--!       ',
        '---^----!   ',
        '----^----!  ',
        '------^----!',
      ]);
    }),
  );

  it(
    'counts no longer once one side has ended',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const lingering$ = cold('--x----|').pipe(limitStreams({ perPod: 1, total: 1 })('web'));
      expectObservable(lingering$, '^').toBe('--x----|');
      const refused = tooMany('the pod has 1 open streams, and may have no more');
      expectObservable(lingering$, '-^').toBe('-#', {}, refused);
      expectObservable(lingering$, '---^').toBe('-----x----|');
      // The end of the first one, at 7, frees nothing a second time.
      expectObservable(lingering$, '------^').toBe('--------x----|');
      expectObservable(lingering$, '-------^').toBe('-------#', {}, refused);
    }),
  );

  it(
    'frees its place with an error, too',
    marbles(({ cold, expectObservable }) => {
      const stream$ = cold('-#').pipe(limitStreams({ perPod: 1, total: 1 })('web'));
      expectObservable(stream$, '^ ').toBe('-#');
      expectObservable(stream$, '^ ').toBe('#', {}, tooMany('the pod has 1 open streams, and may have no more'));
      expectObservable(stream$, '--^').toBe('---#');
    }),
  );
});

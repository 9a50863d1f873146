import { Observable, of } from 'rxjs';
import { it } from 'vitest';
import { endProcess, untilUnserved } from '../../../src/cli/runtime/end-other-build.js';
import { marbles } from '../marbles.js';

it.each([
  ['is not killed when it ends by SIGTERM', 10, 'T 19ms |'],
  ['is killed when it has not ended after 15 s', 15_010, 'T 14999ms K 19ms |'],
  ['is waited for at most 5 s after SIGKILL', Infinity, 'T 14999ms K 4999ms |'],
])('a runtime of another build %s', (_, livesMs, expected) => {
  marbles(({ scheduler, expectObservable }) => {
    const signal$ = new Observable<string>((subscriber) => {
      const runtime = {
        isAlive: () => scheduler.now() < livesMs,
        signal: (name: string) => subscriber.next(name),
      };
      return endProcess(runtime, scheduler).subscribe(subscriber);
    });
    expectObservable(signal$).toBe(expected, { T: 'SIGTERM', K: 'SIGKILL' });
  })();
});

it.each([
  ['is not waited for when nothing listens', 0, '|'],
  ['is checked every 20 ms', 50, '60ms |'],
  ['is waited for at most 5 s', Infinity, '5s |'],
])('a socket on which an ended runtime still listens %s', (_, listensMs, expected) => {
  marbles(({ scheduler, expectObservable }) => {
    const isServed = () => of(scheduler.now() < listensMs);
    expectObservable(untilUnserved(isServed, scheduler)).toBe(expected);
  })();
});

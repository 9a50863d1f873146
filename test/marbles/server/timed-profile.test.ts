import { map, type Observable, throwError } from 'rxjs';
import { describe, it } from 'vitest';
import { profileCall, type ProfileRequest } from '../../../src/model/server/profile-request.js';
import { timedProfile } from '../../../src/streams/server/timed-profile.js';
import { marbles } from '../marbles.js';

const asked = (query: string): ProfileRequest => {
  const call = profileCall('profile', new URLSearchParams(query));
  if ('status' in call) throw new Error(call.text);
  return call;
};
const body = (reply$: Observable<{ readonly status: number; readonly body: unknown }>) =>
  reply$.pipe(map((reply) => `${reply.status} ${String(reply.body).trim()}`));

const TAKEN = '200 cpu';
const BUSY = '429 a profile is being taken already';

describe('a profile', () => {
  it(
    'takes thirty seconds unless the client names a time',
    marbles(({ scheduler, expectObservable }) => {
      const take = timedProfile({ record: (kind, until$) => until$.pipe(map(() => kind)), scheduler });
      expectObservable(body(take(asked('')))).toBe('30s (t|)', { t: TAKEN });
    }),
  );

  it(
    'takes up to five minutes',
    marbles(({ scheduler, expectObservable }) => {
      const take = timedProfile({ record: (kind, until$) => until$.pipe(map(() => kind)), scheduler });
      expectObservable(body(take(asked('seconds=300')))).toBe('300s (t|)', { t: TAKEN });
    }),
  );

  it(
    'is refused while another one is taken, which ends when its client leaves',
    marbles(({ scheduler, cold, expectObservable, expectSubscriptions }) => {
      const recording = cold('5s p');
      const take = timedProfile({ record: () => recording, scheduler });
      const profile$ = body(take(asked('')));
      expectObservable(profile$, '^ 2000ms !').toBe('');
      expectObservable(profile$, '-^').toBe('-(b|)', { b: BUSY });
      expectObservable(profile$, '3s ^ 6s !').toBe('8s p', { p: '200 p' });
      expectSubscriptions(recording.subscriptions).toBe(['^ 2000ms !', '3s ^ 6s !']);
    }),
  );

  it(
    'that fails is a reply, and does not prevent the next one',
    marbles(({ scheduler, expectObservable }) => {
      const take = timedProfile({ record: () => throwError(() => new Error('no inspector')), scheduler });
      expectObservable(body(take(asked('')))).toBe('(f|)', { f: '500 no inspector' });
      expectObservable(body(take(asked(''))), '-^').toBe('-(f|)', { f: '500 no inspector' });
    }),
  );
});

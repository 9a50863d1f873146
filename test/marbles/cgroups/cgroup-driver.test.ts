import { throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { CgroupDriver as CriDriver, RuntimeConfigResponse } from '../../../src/generated/runtime/v1/api.js';
import { CriError } from '../../../src/model/cri/cri-error.js';
import { cgroupDriver } from '../../../src/streams/cgroups/cgroup-driver.js';
import type { Logger } from '../../../src/streams/ports/logger.js';
import { metricLines } from '../../support/metric-lines.js';
import { inTurn, marbles } from '../marbles.js';

const answer = (driver?: string): RuntimeConfigResponse => ({
  linux: driver === undefined ? undefined : { cgroupDriver: driver as CriDriver },
});
const listener = () => {
  const lines: string[] = [];
  const say = (_: object, message: string) => lines.push(message);
  const log: Logger = { debug: say, info: say, warn: say, error: say };
  const { metrics, lines: observed } = metricLines();
  return { lines, log, metrics, observed };
};

describe('the driver of the runtime', () => {
  it.each([
    ['CGROUPFS', 'cgroupfs'],
    ['SYSTEMD', 'systemd'],
    [undefined, 'systemd'],
  ])('%s is %s where systemd is configured', (driver, expected) => {
    marbles(({ cold, scheduler, expectObservable }) => {
      const runtimeConfig = () => cold('-(a|)', { a: answer(driver) });
      const { log, metrics, observed } = listener();
      expectObservable(cgroupDriver({ runtimeConfig }, 'systemd', { log, metrics, scheduler })).toBe('-(d|)', {
        d: expected,
      });
      scheduler.schedule(() => expect(observed).toEqual([]), 2);
    })();
  });

  it(
    'is refused when it is unknown',
    marbles(({ cold, scheduler, expectObservable }) => {
      const runtimeConfig = () => cold('(a|)', { a: answer('UNRECOGNIZED') });
      const error = new Error('the runtime uses an unknown cgroup driver: UNRECOGNIZED');
      const { log, metrics } = listener();
      expectObservable(cgroupDriver({ runtimeConfig }, 'systemd', { log, metrics, scheduler })).toBe(
        '#',
        undefined,
        error,
      );
    }),
  );

  it(
    'is asked for again 2 s after a failure',
    marbles(({ cold, scheduler, expectObservable }) => {
      const answer$ = inTurn(cold<RuntimeConfigResponse>('-#'), cold('-(a|)', { a: answer('CGROUPFS') }));
      const { log, metrics } = listener();
      const result$ = cgroupDriver({ runtimeConfig: () => answer$ }, 'systemd', { log, metrics, scheduler });
      expectObservable(result$).toBe('2002ms (d|)', { d: 'cgroupfs' });
    }),
  );

  it(
    'is asked for three times in all',
    marbles(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
      const broken = cold<RuntimeConfigResponse>('-#');
      const { log, metrics } = listener();
      const result$ = cgroupDriver({ runtimeConfig: () => broken }, 'systemd', { log, metrics, scheduler });
      expectObservable(result$).toBe('4003ms #');
      expectSubscriptions(broken.subscriptions).toBe(['^!', '2001ms ^!', '4002ms ^!']);
    }),
  );

  it(
    'is the configured one, without a wait, if the runtime does not implement the call',
    marbles(({ scheduler, expectObservable, flush }) => {
      const runtimeConfig = () => throwError(() => new CriError('unimplemented', 'RuntimeConfig', 'unknown method'));
      const { log, lines, metrics, observed } = listener();
      expectObservable(cgroupDriver({ runtimeConfig }, 'systemd', { log, metrics, scheduler })).toBe('(d|)', {
        d: 'systemd',
      });
      flush();
      expect(lines).toEqual(['the runtime does not say which cgroup driver it uses']);
      expect(observed).toEqual(['runtimeLosesSupport 1.38.0']);
    }),
  );
});

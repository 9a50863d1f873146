import { NEVER, type Observable, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { podCidrSender } from '../../../src/streams/node/pod-cidr.js';
import { expectLanes } from '../lanes.js';
import { marbles } from '../marbles.js';
import { quiet } from './node-stage.js';

const node = (...podCIDRs: readonly string[]) => ({ metadata: { name: 'node-1' }, spec: { podCIDRs: [...podCIDRs] } });

describe('the addresses of pods', () => {
  it(
    'are sent to the runtime once for each change, and again if it did not accept them within 2 s',
    marbles(({ scheduler }) => {
      const answers: Observable<object>[] = [of({}), of({}), throwError(() => new Error('no')), NEVER, of({})];
      const asked: string[] = [];
      const tell = podCidrSender({
        runtime: {
          updateRuntimeConfig: ({ runtimeConfig }) => {
            asked.push(`${scheduler.now()} ${runtimeConfig?.networkConfig?.podCidr}`);
            return answers.shift() ?? NEVER;
          },
        },
        log: quiet,
        scheduler,
      });
      const told: boolean[] = [];
      const six = 'fd00:10::/64';
      const looks = [[], ['10.1.0.0/24'], ['10.1.0.0/24'], ['10.1.0.0/24', six], [six], [six], [six], [six], []];
      for (const cidrs of looks) {
        tell(node(...cidrs)).subscribe((isTold) => told.push(isTold));
        scheduler.flush();
      }
      expect(told).toEqual([false, true, false, true, false, false, true, false, false]);
      expectLanes(asked, { everyMs: 500 }).toBe('(obss)---s', { o: '10.1.0.0/24', b: `10.1.0.0/24,${six}`, s: six });
    }),
  );
});

import { NEVER, type Observable, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { podCidrTeller } from '../../../src/streams/node/pod-cidr.js';
import { marbles } from '../marbles.js';
import { quiet } from './node-stage.js';

const node = (...podCIDRs: readonly string[]) => ({ metadata: { name: 'node-1' }, spec: { podCIDRs: [...podCIDRs] } });

describe('the addresses of pods', () => {
  it(
    'are told to the runtime once for each change, and again where it did not take them within 2 s',
    marbles(({ scheduler }) => {
      const answers: Observable<object>[] = [of({}), of({}), throwError(() => new Error('no')), NEVER, of({})];
      const asked: unknown[] = [];
      const tell = podCidrTeller({
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
      expect(asked).toEqual([...['0 10.1.0.0/24', `0 10.1.0.0/24,${six}`], ...[`0 ${six}`, `0 ${six}`, `2000 ${six}`]]);
    }),
  );
});

import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { toldBy } from '../../examples/library/evented-pleg.js';
import { forever, MINUTE, onNode, pod, SECOND, starts } from './virtual-node.js';

describe('examples/library/evented-pleg', () => {
  const behaviours = { main: [{ exitsAfterMs: 30 * SECOND, exitCode: 1 }, { exitsAfterMs: 5 * MINUTE }] };
  /** Collecting garbage lists a few times at the full minutes; the listings of the rest, in seconds. */
  const listings = (all: readonly number[]) => all.map((at) => Math.round(at / SECOND)).filter((at) => at % 60 > 1);

  it('looks at a pod when it is told to, and lists rarely', () => {
    const web = pod();
    let health: string | undefined = 'not asked for';
    const { fake } = onNode({ behaviours, tellsEvents: false, untilMs: 4 * MINUTE }, ({ start, scheduler }) => {
      const changed$ = new Subject<string>();
      const agent = start({ sources: { file: forever(web) }, swap: toldBy(changed$) });
      scheduler.schedule(() => changed$.next(web.metadata.uid), 30 * SECOND + 20);
      scheduler.schedule(() => (health = agent.health()), 3 * MINUTE + 30 * SECOND);
    });
    expect(starts(fake.history, 'main')).toEqual([0, 30]);
    expect(listings(fake.listings)).toEqual([]);
    expect(health).toBeUndefined();
  });

  it('goes back to listings every second when nobody can tell any more', () => {
    const { fake } = onNode({ behaviours, tellsEvents: false, untilMs: 40 * SECOND }, ({ start, scheduler }) => {
      const changed$ = new Subject<string>();
      start({ sources: { file: forever(pod()) }, swap: toldBy(changed$) });
      scheduler.schedule(() => changed$.error(new Error('the bus is gone')), 20 * SECOND);
    });
    expect(starts(fake.history, 'main')).toEqual([0, 30]);
    expect(listings(fake.listings)[0]).toBe(20);
    expect(listings(fake.listings)).toHaveLength(20);
  });
});

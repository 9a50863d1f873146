import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { hintedBy } from '../../examples/library/evented-pleg.js';
import { expectLanes, linesOf } from './lanes.js';
import { forever, MINUTE, onNode, pod, SECOND } from './virtual-node.js';

describe('examples/library/evented-pleg', () => {
  const behaviours = { main: [{ exitsAfterMs: 30 * SECOND, exitCode: 1 }, { exitsAfterMs: 5 * MINUTE }] };
  it('reads a pod when its user asks for it, and lists rarely', () => {
    const web = pod();
    let health: string | undefined = 'not asked for';
    const { fake } = onNode({ behaviours, tellsEvents: false, untilMs: 4 * MINUTE }, ({ start, scheduler }) => {
      const changed$ = new Subject<string>();
      const agent = start({ sources: { file: forever(web) }, swap: hintedBy(changed$) });
      scheduler.schedule(() => changed$.next(web.metadata.uid), 30 * SECOND + 20);
      scheduler.schedule(() => (health = agent.health()), 3 * MINUTE + 30 * SECOND);
    });
    // One relist each minute, as the example asks for, and the three listings of garbage collection.
    const lists = fake.listings.map((at) => `${at} list`);
    expectLanes([...lists, ...linesOf(fake.history, 'start main', 'exit main')], { everyMs: 20 }).toBe({
      list: '        l 29980ms -- 29960ms (llll) 59980ms (llll) 59980ms (llll) 150s -',
      'start main': '0 29980ms -1 29960ms -      59980ms -      59980ms -      150s -',
      'exit main': ' - 29980ms 1- 29960ms -      59980ms -      59980ms -      150s 0',
    });
    expect(health).toBeUndefined();
  });

  it('goes back to listings every second when no events come any more', () => {
    const { fake } = onNode({ behaviours, tellsEvents: false, untilMs: 40 * SECOND }, ({ start, scheduler }) => {
      const changed$ = new Subject<string>();
      start({ sources: { file: forever(pod()) }, swap: hintedBy(changed$) });
      scheduler.schedule(() => changed$.error(new Error('the bus is gone')), 20 * SECOND);
    });
    const lists = fake.listings.map((at) => `${at} list`);
    expectLanes([...lists, ...linesOf(fake.history, 'start main', 'exit main')], { everyMs: SECOND }).toBe({
      list: '        l 19s llllllllllllllllllll 290s -',
      'start main': '0 19s ----------1--------- 290s -',
      'exit main': ' - 19s ----------1--------- 290s 0',
    });
  });
});

import { describe, expect, it } from 'vitest';
import { foldNodeStart, type NodeStart, type NodeStartEvent } from '../../../src/model/node/node-start.js';

const attempted = (at: number): NodeStartEvent => ({ kind: 'attempted', at });
const registered = (at: number, bootedAt?: number): NodeStartEvent => ({ kind: 'registered', at, bootedAt });
const ready = (at: number): NodeStartEvent => ({ kind: 'ready', at });
const found: NodeStartEvent = { kind: 'found' };

/** The measured parts, in milliseconds, of an agent that starts at 10 ms, which is 1000 ms of the wall clock. */
const measured = (events: readonly NodeStartEvent[]): readonly string[] => {
  const first: NodeStart = { startedAt: 10, startedAtUnixMs: 1_000, isOver: false };
  const parts: string[] = [];
  events.reduce((start, event) => {
    const step = foldNodeStart(start, event);
    parts.push(...step.ended.map(({ part, durationMs }) => `${part} ${durationMs}`));
    return step.start;
  }, first);
  return parts;
};

const CREATED = ['pre-kubelet 400', 'pre-registration 5', 'registration 20'];
const READY = ['post-registration 65', 'total 490'];

describe('the start of a node', () => {
  it.each<readonly [string, readonly NodeStartEvent[], readonly string[]]>([
    ['a new Node is measured in all parts', [attempted(15), registered(35, 600), ready(100)], [...CREATED, ...READY]],
    ['only the first attempt counts', [attempted(15), attempted(30), registered(35, 600)], CREATED],
    ['only the first registration counts', [attempted(15), registered(35, 600), registered(40, 600)], CREATED],
    [
      'only the first time as ready counts',
      [attempted(15), registered(35, 600), ready(100), ready(200), registered(300, 600)],
      [...CREATED, ...READY],
    ],
    [
      'the parts from the start of the machine are left out if it is not known',
      [attempted(15), registered(35), ready(100)],
      ['pre-registration 5', 'registration 20', 'post-registration 65'],
    ],
    ['a Node that existed before is not measured', [attempted(15), found, ready(40)], []],
    ['a Node that is created again is not measured', [attempted(15), found, registered(35, 600), ready(100)], []],
    ['a Node that another client created is not measured', [ready(40)], []],
    ['a registration without an attempt is not measured', [registered(35, 600), ready(100)], []],
  ])('%s', (_, events, expected) => expect(measured(events)).toEqual(expected));
});

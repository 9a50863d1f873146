import { expect, it } from 'vitest';
import { readStory } from '../../../../src/tools/recording/incident/read-story.js';
import { BEGIN, header, recordedPod, web } from './recorded-pod.js';

const story = readStory(header, recordedPod);
const of = (kind: string) => story.observed.observations.filter((one) => one.kind === kind);

it('lists the journal, with the events that were sent beside it', () => {
  expect(story.journal).toEqual([
    { kind: 'config', source: 'file', op: 'ADD', pod: web, causes: [], id: 'r-1', at: BEGIN + 100 },
    {
      ...{ kind: 'event', id: 'event-1', at: BEGIN + 1030, pod: web, container: 'app', type: 'Normal' },
      ...{ reason: 'Started', message: 'it did', causes: ['r-1'] },
    },
  ]);
});

it('lists calls of the pod with their containers, however they ended', () => {
  const about = { kind: 'call', pod: web };
  expect(of('call')).toEqual([
    { ...about, id: 'call-3', call: 'CreateContainer', container: 'app', from: BEGIN + 100, until: BEGIN + 130 },
    {
      ...about,
      id: 'call-4',
      call: 'ContainerStatus',
      container: 'app',
      from: BEGIN + 130,
      until: BEGIN + 140,
      error: 'broken',
    },
    { ...about, id: 'call-7', call: 'StopContainer', container: 'app', from: BEGIN + 1030 },
  ]);
});

it('lists results of probes, by the name of the probe where that is sure', () => {
  const about = { kind: 'probe-result', pod: web };
  expect(of('probe-result')).toEqual([
    {
      ...about,
      id: 'probe-5',
      container: 'app',
      probe: 'readiness',
      at: BEGIN + 1020,
      result: 'failure',
      output: 'no',
    },
    {
      ...about,
      id: 'probe-6',
      container: 'two',
      probe: 'liveness',
      at: BEGIN + 1030,
      result: 'success',
      output: 'well',
    },
  ]);
});

it('lists timers that had to do with the pod, relists, and from when to when', () => {
  expect(of('timer')).toEqual([{ kind: 'timer', id: 'timer-1', pod: web, at: BEGIN + 1000 }]);
  expect(story.observed.relists).toEqual([{ id: 'call-2', at: BEGIN }]);
  expect(story).toMatchObject({ node: 'n', from: BEGIN, until: BEGIN + 63_000 });
});

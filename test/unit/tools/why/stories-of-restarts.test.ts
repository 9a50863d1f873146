import { describe, it } from 'vitest';
import {
  other,
  of,
  heard,
  stopping,
  terminating,
  start,
  change,
  problem,
  rejected,
  finding,
  up,
  done,
  again,
  readAgain,
  expectTold,
  type Story,
} from './a-story.js';
import { added, agentStarted, app, phase, resync, sync, web } from './journal-lines.js';

const STORIES: Readonly<Record<string, Story>> = {
  'a job that ended before its agent was started again': {
    at: 3600,
    lines: [
      ...done,
      [60, stopping],
      ...again(3590, ...readAgain, [1, change('ContainerDied', 'c1', 10), app], [1, phase('Succeeded'), of]),
    ],
    says: ['web_default is Succeeded for 59 min 49 s', 'app ended with exit code 0 59 min 50 s ago'],
    never: [/ended 2 times/, /ended with exit code 0 \d+ s ago/],
  },
  'a job whose first end is no longer in the journal': {
    at: 3600,
    lines: again(3590, ...readAgain, [1, change('ContainerDied', 'c1', 10), app], [1, phase('Succeeded'), of]),
    says: ['web_default is Succeeded for 59 min 50 s', 'app ended with exit code 0 59 min 50 s ago'],
    never: [/ended with exit code 0 \d+ s ago/],
  },
  'a job that ended while no agent ran': {
    at: 3600,
    lines: [
      ...up,
      [60, stopping],
      ...again(3590, ...readAgain, [1, change('ContainerDied', 'c1', 100), app], [1, phase('Succeeded'), of]),
    ],
    says: ['web_default is Succeeded for 58 min 20 s', 'app ended with exit code 0 58 min 20 s ago'],
    never: [/ended \d+ times/],
  },
  'a server that was running all along': {
    at: 3600,
    lines: [
      ...up,
      [60, stopping],
      ...again(3590, ...readAgain, [1, change('ContainerStarted', 'c1', 2), app], [1, phase('Running'), of]),
    ],
    says: ['web_default is Running for 59 min 57 s', 'app runs for 59 min 58 s'],
    never: [/Running for \d+ s/, /runs for \d+ s/, /was added by .*\n.*was added by/],
  },
  'a server that was running all along, with a journal of this run only': {
    at: 3600,
    lines: again(3590, ...readAgain, [1, change('ContainerStarted', 'c1', 2), app], [1, phase('Running'), of]),
    says: ['web_default is Running for 59 min 58 s', 'app runs for 59 min 58 s'],
  },
  'an init container that ended once, long ago': {
    at: 3600,
    lines: [
      ...up,
      [2, change('ContainerDied', 'i1', 2), { pod: web, container: 'prepare' }],
      [60, stopping],
      ...again(3590, ...readAgain, [1, change('ContainerDied', 'i1', 2), { pod: web, container: 'prepare' }]),
    ],
    says: ['prepare ended with exit code 0 59 min 58 s ago'],
    never: [/prepare ended 2 times/, /\b9 s ago +prepare ended/],
  },
  'ends of earlier instances that a new agent finds beside the one that runs': {
    at: 100,
    lines: again(
      90,
      ...readAgain,
      [1, change('ContainerStarted', 'c3', 50), app],
      [1, change('ContainerDied', 'c1', 20), app],
      [1, change('ContainerDied', 'c2', 40), app],
      [2, phase('Running'), of],
    ),
    says: ['app runs for 50 s, ended 2 times before', 'app ended 2 times in the last 1 min 20 s'],
    never: [/app ended with exit code 0 .* ago$/m],
  },
  'ends that are reported in the wrong order': {
    at: 100,
    lines: again(
      90,
      ...readAgain,
      [1, change('ContainerDied', 'c2', 40), app],
      [1, change('ContainerDied', 'c1', 20), app],
    ),
    says: ['app ended with exit code 0 1 min ago'],
  },
  'a crash that goes on over a restart of the agent': {
    at: 60,
    lines: [
      ...up,
      [10, change('ContainerDied', 'c1', 10), app],
      [12, start('c2'), app],
      [20, change('ContainerDied', 'c2', 20), app],
      [30, stopping],
      ...again(
        40,
        ...readAgain,
        [1, change('ContainerDied', 'c1', 10), app],
        [1, change('ContainerDied', 'c2', 20), app],
      ),
    ],
    says: ['app ended with exit code 0 40 s ago', 'app ended 2 times in the last 50 s'],
    never: [/ended [34] times/],
  },
  'a pod whose manifest was taken away while no agent ran, and that ran on': {
    at: 60,
    lines: [
      ...up,
      [20, stopping],
      ...again(
        40,
        [0, heard],
        [1, change('ContainerStarted', 'c1', 2), app],
        [2, finding('the pod runs but no source wants it: it is stopped'), of],
        [2, terminating, { ...of, causes: ['e12'] }],
      ),
    ],
    says: ['web_default is being stopped for 18 s', 'the pod runs but no source wants it'],
    never: [/routine sync/, /first look/],
  },
  'a pod of which a new agent finds nothing at all': {
    at: 3600,
    lines: [...up, [20, stopping], ...again(40, [1, added, { pod: other }], [1, heard])],
    says: [
      'web_default is not wanted any more: the agent that started 59 min 20 s ago found it in no manifest',
      'next: nothing: no source wants the pod',
    ],
    never: [/is Running/, /first look/],
  },
  'a new agent that has not read its manifests yet': {
    at: 42,
    lines: [...up, [20, stopping], ...again(40)],
    says: ['Running for 39 s, as the agent knew it before its restart', 'next: the first check by the agent'],
    never: [/not wanted/],
  },
  'a new agent whose folder cannot be read': {
    at: 60,
    lines: [
      ...up,
      [20, stopping],
      ...again(
        40,
        [0, { kind: 'config-problem', source: 'file', problem: 'pod source file failed: ELOOP m/loop.yaml' }],
        [1, change('ContainerStarted', 'c1', 2), app],
      ),
    ],
    says: ['next: waits until its source can be read: pod source file failed: ELOOP m/loop.yaml'],
    never: [/its first sync/, /first look/],
  },
  'a folder that could not be read, and can': {
    at: 60,
    lines: [
      ...up,
      [20, stopping],
      ...again(
        40,
        [0, { kind: 'config-problem', source: 'file', problem: 'pod source file failed: ELOOP m/loop.yaml' }],
        ...readAgain,
        [1, sync('config'), of],
        [1, resync(101), of],
      ),
    ],
    says: ['next: routine sync in 41 s'],
    never: [/ELOOP/],
  },
  'an agent that was killed': {
    at: 60,
    agentRuns: false,
    lines: up,
    says: ['is Running for 57 s, as the agent knew it last', 'next: nothing until the agent runs again'],
    never: [/routine sync/],
  },
  'an agent that was killed in the middle of a sync': {
    at: 60,
    agentRuns: false,
    lines: [...up, [50, sync('sync'), of]],
    says: ['next: nothing until the agent runs again'],
    never: [/takes 10 s so far/],
  },
  'an agent that was asked to stop': {
    at: 60,
    agentRuns: false,
    lines: [...up, [50, stopping]],
    says: ['as the agent knew it when it stopped', 'next: nothing until the agent runs again; it stopped 10 s ago'],
  },
  'a manifest that broke while no agent ran': {
    at: 60,
    lines: [...up, [20, stopping], ...again(40, [0, problem('m/web.yaml:3:1: one')], [0, heard])],
    says: ['web_default is not wanted any more', 'file m/web.yaml cannot be used: m/web.yaml:3:1: one'],
  },
  'a rejected pod that the next agent takes in': {
    at: 60,
    lines: [
      [0, agentStarted],
      [1, added, of],
      [1, rejected(), of],
      [20, stopping],
      ...again(40, ...readAgain, [1, sync('config'), of], [2, start('c1'), app], [3, phase('Running'), of]),
    ],
    says: ['web_default is Running for 17 s'],
    never: [/was rejected/],
  },
};

describe('why says, after an agent was started again, what is so of', () => {
  it.each(Object.entries(STORIES))('%s', (_, story) => expectTold(story));
});

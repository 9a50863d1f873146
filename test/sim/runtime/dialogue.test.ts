import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ContainerEventResponse } from '../../../src/generated/runtime/v1/api.js';
import { criDialogue, DIALOGUE_BEHAVIOURS, DIALOGUE_COMMANDS } from '../../support/cri-dialogue.js';
import { runtimeStage } from './runtime-stage.js';

const IMAGE = 'docker.io/library/busybox:latest';
const transcript = readFileSync(new URL('../../support/cri-dialogue.txt', import.meta.url), 'utf8');

describe('the simulated runtime', () => {
  it('answers as containerd does', async () => {
    const containers = Object.fromEntries(
      Object.entries(DIALOGUE_BEHAVIOURS).map(([name, [behaviour]]) => [
        name,
        [{ ...behaviour, commands: DIALOGUE_COMMANDS }],
      ]),
    );
    const { simulated, scheduler, answer } = runtimeStage({ containers, images: { [IMAGE]: { isPresent: true } } });
    const lines = await criDialogue({
      ...simulated,
      answer: async (call$) => answer(call$),
      listen: (event$) => {
        const events: ContainerEventResponse[] = [];
        event$.subscribe((event) => events.push(event));
        scheduler.runUntil(10);
        return events;
      },
      eventually: async (what, check) => {
        for (let tries = 0; tries < 1000; tries++) {
          const isThere = await check().then(
            () => true,
            () => false,
          );
          if (isThere) return;
          scheduler.runUntil(scheduler.now() + 10);
        }
        throw new Error(`never: ${what}`);
      },
      image: IMAGE,
      logDirectory: '/logs',
    });
    expect(lines).toEqual(transcript.trimEnd().split('\n'));
  });
});

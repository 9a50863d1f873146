import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { firstValueFrom } from 'rxjs';
import { expect, it } from 'vitest';
import type { ContainerEventResponse } from '../../src/generated/runtime/v1/api.js';
import { criClient } from '../../src/runtime/cri-client.js';
import { eventually } from '../embedded/eventually.js';
import { criDialogue } from '../support/cri-dialogue.js';
import { BUSYBOX, ContainerdNode } from './containerd-node.js';
import { newerContainerd, overNewerContainerd } from './newer.js';

const transcript = readFileSync(new URL('../support/cri-dialogue.txt', import.meta.url), 'utf8');

overNewerContainerd('the dialogue that the simulated runtime is held to', () => {
  it('goes as it is written down', { timeout: 240_000 }, async () => {
    const node = new ContainerdNode(await newerContainerd());
    const { runtime, images, close } = criClient({ endpoint: `unix://${join(node.stage, 'containerd.sock')}` });
    try {
      await node.startRuntime();
      const logDirectory = join(node.directory, 'dialogue');
      mkdirSync(logDirectory);
      const lines = await criDialogue({
        ...{ runtime, images, eventually, logDirectory, image: BUSYBOX },
        answer: (call$) => firstValueFrom(call$),
        listen: (event$) => {
          const events: ContainerEventResponse[] = [];
          event$.subscribe({ next: (event) => events.push(event), error: () => undefined });
          return events;
        },
      });
      expect(lines).toEqual(transcript.trimEnd().split('\n'));
    } finally {
      close();
      await node.dispose();
    }
  });
});

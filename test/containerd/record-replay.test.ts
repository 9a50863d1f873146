import { join } from 'node:path';
import { expect } from 'vitest';
import { liveThrough, RECORD_SECONDS } from '../embedded/incident.js';
import { expectLongerBackOffFound, expectSame } from '../embedded/replays.js';
import { dice, SEED } from '../embedded/seeded.js';
import { healthServer } from '../support/health-server.js';
import { it, WAIT } from './containerd-node.js';
import { overContainerd } from './missing.js';

const LONGEST_MS = RECORD_SECONDS * 3_000 + 600_000;

overContainerd('a recording', () => {
  it(
    `of churn and kills, of containerd itself as well, replays without a difference (SEED=${SEED})`,
    async ({ node }) => {
      const server = await healthServer();
      try {
        const file = join(node.directory, 'node.rec');
        await node.start('--record', file);
        const counts = await liveThrough(node, {
          ...{ server, dice: dice(SEED), seconds: RECORD_SECONDS, wait: WAIT },
          revive: () => node.startRuntime(),
        });
        expect((await node.kill('SIGTERM')).code).toBe(0);
        console.log(`${JSON.stringify(counts)}, ${await expectSame(node, file)}`);
        await expectLongerBackOffFound(node, file);
      } finally {
        server.close();
      }
    },
    LONGEST_MS,
  );
});

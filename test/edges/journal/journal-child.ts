// Writes entries as fast as it can until it is killed; says `writing` once some are on disk.
import { createJournal } from '../../../src/journal/journal-writer.js';

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const journal = createJournal({
  directory: process.argv[2] ?? '',
  runId: process.argv[3] ?? '',
  now: () => Date.now(),
  log: quiet,
  maxBytes: 64 * 1024,
  maxFiles: 4,
});
let isAnnounced = false;
const burst = () => {
  for (let i = 0; i < 100; i++) {
    journal.record({ kind: 'housekeeping', finding: 'x'.repeat(i), causes: [] });
  }
  if (process.argv[4] === 'once') return;
  if (!isAnnounced) {
    journal.flush();
    process.stdout.write('writing\n');
    isAnnounced = true;
  }
  setImmediate(burst);
};
burst();

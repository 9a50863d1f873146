// Writes lines as fast as it can until it is killed, or ends in the way of its argument; says `writing` once some are on disk.
import { statSync } from 'node:fs';
import { createRecordingFile } from '../../../../src/tools/recording/file/recording-file.js';

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const [, , path = '', how] = process.argv;
const recording = createRecordingFile({
  path,
  lastLine: (reason) => JSON.stringify({ kind: 'cut', reason }),
  maxBytes: 2 ** 30,
  log: quiet,
});
let count = 0;
recording.append(JSON.stringify({ kind: 'recording', format: 1 }));
let isAnnounced = false;
const burst = () => {
  for (let index = 0; index < 1000; index++)
    recording.append(JSON.stringify({ kind: 'cut', reason: `${++count} ${'x'.repeat(index % 300)}` }));
  if (how === 'exit' && count >= 20_000) process.exit(0);
  if (how === 'close' && count >= 20_000) return void recording.close();
  if (!isAnnounced && statSync(path).size > 1000) {
    process.stdout.write('writing\n');
    isAnnounced = true;
  }
  setImmediate(burst);
};
burst();

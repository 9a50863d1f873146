/** Takes one step of a volume and kills itself with SIGKILL right before one of its calls to the kernel: `<step> <volume> <number of the call>`. */
import { lastValueFrom } from 'rxjs';
import { volumeFiles } from '../../../src/host/volumes/volume-files.js';
import { killProcess } from '../../support/kill-process.js';
import { type Step, type SteppedVolume, takeStep } from './volume-steps.js';

const [step, volume = '', call] = process.argv.slice(2);
let count = 0;
const files = volumeFiles({
  beforeCall: () => {
    count += 1;
    if (count === Number(call)) killProcess(process.pid);
  },
});
await lastValueFrom(takeStep(files, step as Step, JSON.parse(volume) as SteppedVolume), { defaultValue: undefined });

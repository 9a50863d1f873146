import { runProgram } from './program.js';

await runProgram(process.argv.slice(2), async () => (await import('./compose-kubelet.js')).composeKubelet);

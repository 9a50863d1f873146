import { runProgram } from './program.js';

await runProgram(process.argv.slice(2), async () => (await import('./kubelet/compose-kubelet.js')).composeKubelet);

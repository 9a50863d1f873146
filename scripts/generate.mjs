// Generates src/generated from its inputs, skipping what is newer than everything it is made from.
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const steps = [
  {
    output: 'src/generated/runtime/v1/api.ts',
    inputs: ['proto/runtime/v1/api.proto', 'buf.gen.yaml', 'package-lock.json'],
    command: ['node_modules/@bufbuild/buf/bin/buf', 'generate'],
  },
  {
    output: 'src/generated/pod-schema.ts',
    inputs: ['scripts/generate-pod-schema.mjs', 'package-lock.json'],
    command: ['scripts/generate-pod-schema.mjs'],
  },
];

const changedAt = (path) => statSync(`${root}${path}`).mtimeMs;

for (const { output, inputs, command } of steps) {
  const isFresh = existsSync(`${root}${output}`) && inputs.every((input) => changedAt(input) <= changedAt(output));
  if (isFresh) continue;
  execFileSync(process.execPath, command, { cwd: root, stdio: 'inherit' });
}

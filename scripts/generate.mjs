// Generates src/generated from its inputs, except outputs that are newer than all of their inputs.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Generates the code of all files of proto/ at once. */
const buf = ['node_modules/@bufbuild/buf/bin/buf', 'generate'];

const filesOf = (folder) => readdirSync(`${root}${folder}`).map((name) => `${folder}/${name}`);

const steps = [
  ...['runtime/v1/api', 'grpc/health/v1/health'].map((name) => ({
    output: `src/generated/${name}.ts`,
    inputs: [`proto/${name}.proto`, 'buf.gen.yaml', 'package-lock.json'],
    command: buf,
  })),
  {
    output: 'src/generated/pod-schema.ts',
    inputs: ['scripts/generate-pod-schema.mjs', 'package-lock.json'],
    command: ['scripts/generate-pod-schema.mjs'],
  },
  {
    output: 'src/generated/timeline-page.ts',
    inputs: [
      'scripts/generate-timeline-page.mjs',
      'package-lock.json',
      // The page draws with the same code as the command line.
      ...['src/tools/page', 'src/tools/timeline', 'src/tools/why'].flatMap(filesOf),
    ],
    command: ['scripts/generate-timeline-page.mjs'],
  },
];

const changedAt = (path) => statSync(`${root}${path}`).mtimeMs;

for (const { output, inputs, command } of steps) {
  const isFresh = existsSync(`${root}${output}`) && inputs.every((input) => changedAt(input) <= changedAt(output));
  if (isFresh) continue;
  execFileSync(process.execPath, command, { cwd: root, stdio: 'inherit' });
}

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Report {
  readonly summary: {
    readonly violations: readonly { readonly from: string; readonly rule: { readonly name: string } }[];
  };
}

let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'rx-layers-'));
  symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
  symlinkSync(join(root, 'tsconfig.json'), join(project, 'tsconfig.json'));
  symlinkSync(join(root, 'package.json'), join(project, 'package.json'));
});

afterEach(() => rmSync(project, { recursive: true, force: true }));

/** `file: rule` for everything that the rules of this repository find in a project of these files. */
const violations = async (files: Readonly<Record<string, string>>): Promise<readonly string[]> => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, name)), { recursive: true });
    writeFileSync(join(project, name), text);
  }
  const command = [
    ...[join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs'), 'src', '--output-type', 'json'],
    ...['--config', join(root, '.dependency-cruiser.cjs')],
  ];
  const report = await new Promise<Report>((resolve, reject) =>
    execFile(process.execPath, command, { cwd: project, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      stdout === '' ? reject(new Error(stderr, { cause: error })) : resolve(JSON.parse(stdout) as Report),
    ),
  );
  return report.summary.violations.map(({ from, rule }) => `${from}: ${rule.name}`).sort();
};

const good = {
  'src/model/pod/a.ts': 'export const a = 1;\n',
  'src/streams/ports/port.ts': 'export type Port = () => number;\n',
  'src/model/values/two.ts': 'export const two = 2;\n',
  'src/streams/operators/twice.ts':
    "import { map } from 'rxjs';\nimport { two } from '../../model/values/two.js';\nexport const twice = map((n: number) => n * two);\n",
  'src/streams/pleg/b.ts': "import { a } from '../../model/pod/a.js';\nexport const b = a;\n",
  'src/tools/why/t.ts': "import { a } from '../../model/pod/a.js';\nexport const t = a;\n",
  'src/runtime/c.ts': "import type { Port } from '../streams/ports/port.js';\nexport const c: Port = () => 1;\n",
  'src/runtime/embedded/machine/m.ts': 'export const m = 1;\n',
  'src/runtime/embedded/service/s.ts': "export { m } from '../machine/m.js';\n",
  'src/runtime/embedded/server.ts': "export { s } from './service/s.js';\n",
  'src/cli/config/fields/f.ts': 'export const f = 1;\n',
  'src/cli/config/validation/v.ts': "export { f } from '../fields/f.js';\n",
  'src/cli/config/load-configuration.ts': "export { v } from './validation/v.js';\n",
  'src/processes/p.ts': 'export const p = 1;\n',
  'src/host/h.ts': "export { p } from '../processes/p.js';\n",
  'src/kubelet.ts': "import { b } from './streams/pleg/b.js';\nexport const k = b;\n",
  'src/cli/main.ts':
    "import { k } from '../kubelet.js';\nimport { c } from '../runtime/c.js';\nexport const m = [k, c];\n",
};

const bad: readonly (readonly [file: string, text: string, rule: string])[] = [
  ['src/model/pod/rxjs.ts', "export { of } from 'rxjs';\n", 'model-without-rxjs'],
  ['src/model/pod/streams.ts', "export { b } from '../../streams/pleg/b.js';\n", 'model-imports-only-model'],
  ['src/model/pod/x.ts', "export * from './y.js';\n", 'no-cycles'],
  ['src/streams/pleg/core.ts', "export { readFileSync } from 'node:fs';\n", 'core-without-node'],
  ['src/streams/pleg/edge.ts', "export { c } from '../../runtime/c.js';\n", 'streams-import-model-and-streams'],
  ['src/streams/pleg/grpc.ts', "export { Client } from '@grpc/grpc-js';\n", 'core-takes-only-types-of-the-wire'],
  [
    'src/streams/operators/pod.ts',
    "export { a } from '../../model/pod/a.js';\n",
    'operators-have-never-heard-of-a-pod',
  ],
  ['src/sources/runtime.ts', "export { c } from '../runtime/c.js';\n", 'sources-imports-no-other-edge'],
  ['src/sources/streams.ts', "export { b } from '../streams/pleg/b.js';\n", 'edges-know-ports-and-model'],
  ['src/processes/edge.ts', "export { c } from '../runtime/c.js';\n", 'processes-imports-no-room'],
  ['src/processes/model.ts', "export { a } from '../model/pod/a.js';\n", 'processes-imports-no-room'],
  ['src/streams/pleg/processes.ts', "export { p } from '../../processes/p.js';\n", 'streams-import-model-and-streams'],
  ['src/runtime/tool.ts', "export { t } from '../tools/why/t.js';\n", 'agent-knows-no-tool'],
  ['src/tools/why/edge.ts', "export { c } from '../../runtime/c.js';\n", 'why-imports-only-its-rooms'],
  ['src/cli/loose.ts', "export { l } from '../model/loose.js';\n", 'every-topic-has-a-folder'],
  ['src/runtime/loose.ts', "export { l } from './embedded/loose.js';\n", 'every-topic-has-a-folder'],
  ['src/server/logs/loose.ts', "export { l } from '../loose.js';\n", 'every-topic-has-a-folder'],
  ['src/cli/logs/loose.ts', "export { l } from '../stray.js';\n", 'every-topic-has-a-folder'],
  ['src/host/files/loose.ts', "export { l } from '../loose.js';\n", 'every-topic-has-a-folder'],
  ['src/tools/sim/disk/loose.ts', "export { l } from '../loose.js';\n", 'every-topic-has-a-folder'],
  ['src/tools/recording/file/loose.ts', "export { l } from '../loose.js';\n", 'every-topic-has-a-folder'],
  [
    'src/runtime/embedded/machine/up.ts',
    "export { s } from '../service/s.js';\n",
    'embedded-machine-imports-what-is-below',
  ],
  [
    'src/runtime/embedded/service/top.ts',
    "export { s } from '../server.js';\n",
    'embedded-service-imports-what-is-below',
  ],
  ['src/cli/config/validation/loose.ts', "export { l } from '../loose.js';\n", 'every-topic-has-a-folder'],
  ['src/cli/config/fields/up.ts', "export { v } from '../validation/v.js';\n", 'config-fields-imports-what-is-below'],
  [
    'src/cli/config/validation/top.ts',
    "export { v } from '../load-configuration.js';\n",
    'config-validation-imports-what-is-below',
  ],
  ['src/runtime/top.ts', "export { k } from '../kubelet.js';\n", 'composition-is-on-top'],
  ['src/runtime/cli.ts', "export { m } from '../cli/main.js';\n", 'nobody-imports-cli'],
  ['src/runtime/test.ts', "export { vi } from 'vitest';\n", 'no-development-packages'],
  ['src/runtime/gone.ts', "export { y } from './y.js';\n", 'no-missing-files'],
  ['src/cli/stray.ts', "export { x } from '../utils.js';\n", 'every-file-has-a-room'],
  ['src/cli/library.ts', "export { i } from '../index.js';\n", 'nobody-imports-the-library'],
];

describe('the rules of the rooms', () => {
  it('are content with what points one way', async () => {
    expect(await violations(good)).toEqual([]);
  });

  it('find everything that does not', async () => {
    const others = {
      'src/model/pod/y.ts': "export * from './x.js';\n",
      'src/model/loose.ts': 'export const l = 1;\n',
      'src/cli/config/loose.ts': 'export const l = 1;\n',
      'src/runtime/embedded/loose.ts': 'export const l = 1;\n',
      'src/tools/recording/loose.ts': 'export const l = 1;\n',
      'src/tools/sim/loose.ts': 'export const l = 1;\n',
      'src/host/loose.ts': 'export const l = 1;\n',
      'src/server/loose.ts': 'export const l = 1;\n',
      'src/utils.ts': 'export const x = 1;\n',
      'src/index.ts': 'export const i = 1;\n',
    };
    const files = Object.fromEntries(bad.map(([file, text]) => [file, text]));
    const expected = bad.map(([file, , rule]) => `${file}: ${rule}`).sort();
    expect(await violations({ ...good, ...others, ...files })).toEqual(expected);
  });
});

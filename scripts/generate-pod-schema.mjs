// Writes the shape of a v1 Pod, read off the Kubernetes client's models, as one small table: types by name, and in each
// type its fields with a code for what they hold. `!` marks a required field, `[]` a list, `{}` a map with string keys:
//   s string, b boolean, i int32, l int64, n number, q quantity, x integer or string, t date-time, y base64, * anything,
//   otherwise the name of another type in the table.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const models = join(dirname(createRequire(import.meta.url).resolve('@kubernetes/client-node')), 'gen/models');
const output = fileURLToPath(new URL('../src/generated/pod-schema.ts', import.meta.url));

/** The client says `string` where the API says quantity. */
const QUANTITIES = new Set([
  'V1ContainerStatus.allocatedResources',
  'V1EmptyDirVolumeSource.sizeLimit',
  'V1PodSpec.overhead',
  'V1PodStatus.allocatedResources',
  'V1ResourceFieldSelector.divisor',
  'V1ResourceRequirements.limits',
  'V1ResourceRequirements.requests',
  'V1VolumeResourceRequirements.limits',
  'V1VolumeResourceRequirements.requests',
]);

const scalarCodes = {
  string: { '': 's', byte: 'y', 'date-time': 't' },
  number: { int32: 'i', int64: 'l', double: 'n', '': 'n' },
  boolean: { '': 'b' },
  Date: { 'date-time': 't' },
  V1MicroTime: { '': 't', 'date-time': 't' },
  IntOrString: { '': 'x', 'int-or-string': 'x' },
  any: { '': '*' },
  object: { '': '*' },
};

const types = {};

/** The API calls a type what the client calls it without the group and version in front. */
const typeName = (model) => model.replace(/^(Core)?V1/, '');

const codeOf = async (type, format, isQuantity) => {
  const list = /^Array<(.*)>$/.exec(type);
  if (list) return `[]${await codeOf(list[1], format, isQuantity)}`;
  const map = /^\{ \[key: string\]: (.*); \}$/.exec(type);
  if (map) return `{}${await codeOf(map[1], format, isQuantity)}`;
  const scalar = scalarCodes[type]?.[format];
  if (scalar) return isQuantity ? 'q' : scalar;
  if (type in scalarCodes) throw new Error(`no code for ${type} with format ${JSON.stringify(format)}`);
  await addType(type);
  return typeName(type);
};

const addType = async (model) => {
  const name = typeName(model);
  if (types[name]) return;
  const fields = (types[name] = {});
  const attributes = (await import(pathToFileURL(join(models, `${model}.js`)).href))[model].attributeTypeMap;
  // Only the declarations tell which fields the API requires.
  const declarations = readFileSync(join(models, `${model}.d.ts`), 'utf8');
  for (const { baseName, name: property, type, format } of attributes) {
    const isRequired = declarations.includes(`\n    '${property}': `);
    const code = await codeOf(type, format, QUANTITIES.has(`${model}.${baseName}`));
    fields[baseName] = `${isRequired ? '!' : ''}${code}`;
  }
};

await addType('V1Pod');
await addType('V1PodList');
// A manifest says what should run; a status pasted along with it is not read.
types.Pod.status = '*';
// Written after the client's models, in the API's version 1.35.
types.PodSpec.workloadRef ??= 'WorkloadReference';
types.WorkloadReference ??= { name: '!s', podGroup: '!s', podGroupReplicaKey: 's' };

const reachable = (name, seen = new Set()) => {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const code of Object.values(types[name] ?? {})) {
    const target = code.replace(/[!{}[\]]/g, '');
    if (types[target]) reachable(target, seen);
  }
  return seen;
};
const kept = [...reachable('Pod'), ...reachable('PodList')];
const table = Object.fromEntries(Object.entries(types).filter(([name]) => kept.includes(name)));

mkdirSync(dirname(output), { recursive: true });
writeFileSync(
  output,
  `// Made by scripts/generate-pod-schema.mjs; do not edit.
/** Types of the v1 API that a Pod reaches: field name to a code, which src/model/manifest/check-shape.ts explains. */
export const podSchema: Readonly<Record<string, Readonly<Record<string, string>>>> = ${JSON.stringify(table, undefined, 1)};
`,
);

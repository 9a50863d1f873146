// Writes the shapes of a v1 Pod and of the other objects that the agent reads from the API, from the models of the Kubernetes client, as
// one small table: types by name, and in each type its fields with a code for their values. `!` marks a required field, `[]` a list,
// `{}` a map with string keys:
//   s string, b boolean, i int32, l int64, n number, q quantity, x integer or string, t date-time, y base64, * anything,
//   otherwise the name of another type in the table.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const models = join(dirname(createRequire(import.meta.url).resolve('@kubernetes/client-node')), 'gen/models');
const output = fileURLToPath(new URL('../src/generated/pod-schema.ts', import.meta.url));

/** The fields with the type quantity in the API, and `string` in the client. */
const QUANTITIES = new Set([
  'V1ContainerStatus.allocatedResources',
  'V1EmptyDirVolumeSource.sizeLimit',
  'V1NodeStatus.allocatable',
  'V1NodeStatus.capacity',
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
  V1MicroTime: { '': 't', 'date-time': 't', 'date-time-micro': 't' },
  IntOrString: { '': 'x', 'int-or-string': 'x' },
  any: { '': '*' },
  object: { '': '*' },
};

const types = {};

/** Returns the name of a type in the API: that of the client without group and version. */
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
  // Only the declarations show which fields the API requires.
  const declarations = readFileSync(join(models, `${model}.d.ts`), 'utf8');
  for (const { baseName, name: property, type, format } of attributes) {
    const isRequired = declarations.includes(`\n    '${property}': `);
    const code = await codeOf(type, format, QUANTITIES.has(`${model}.${baseName}`));
    fields[baseName] = `${isRequired ? '!' : ''}${code}`;
  }
};

await addType('V1Pod');
await addType('V1PodList');
const ofTheApi = ['ConfigMap', 'Secret', 'Service', 'RuntimeClass', 'Node', 'Lease', 'CertificateSigningRequest'];
for (const name of ofTheApi) await addType(`V1${name}`);
// The agent reads the status of pods of the API.
types.ApiPod = { ...types.Pod };
// The status in a manifest is not read.
types.Pod.status = '*';
// Newer than the client's models: added in version 1.36 of the API.
types.PodSpec.schedulingGroup ??= 'PodSchedulingGroup';
types.PodSchedulingGroup ??= { podGroupName: 's' };
types.PodCertificateProjection.userAnnotations ??= '{}s';
// The client has it in earlier versions only, with the same fields.
types.ClusterTrustBundle = { apiVersion: 's', kind: 's', metadata: 'ObjectMeta', spec: '!ClusterTrustBundleSpec' };
types.ClusterTrustBundleSpec = { signerName: 's', trustBundle: '!s' };
// The API reads an absent value as zero or empty, which is valid.
types.Sysctl.value = 's';
types.HTTPHeader.value = 's';
types.SleepAction.seconds = 'l';

const reachable = (name, seen = new Set()) => {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const code of Object.values(types[name] ?? {})) {
    const target = code.replace(/[!{}[\]]/g, '');
    if (types[target]) reachable(target, seen);
  }
  return seen;
};
const roots = ['Pod', 'PodList', 'ApiPod', 'ClusterTrustBundle', ...ofTheApi];
const kept = roots.flatMap((root) => [...reachable(root)]);
const table = Object.fromEntries(Object.entries(types).filter(([name]) => kept.includes(name)));

mkdirSync(dirname(output), { recursive: true });
writeFileSync(
  output,
  `// Made by scripts/generate-pod-schema.mjs; do not edit.
/** Types of the API that a Pod reaches, and others that the agent reads: field name to a code, which src/model/manifest/check-shape.ts explains. */
export const podSchema: Readonly<Record<string, Readonly<Record<string, string>>>> = ${JSON.stringify(table, undefined, 1)};
`,
);

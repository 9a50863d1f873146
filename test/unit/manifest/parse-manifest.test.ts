import { describe, expect, it } from 'vitest';
import { formatManifestProblem } from '../../../src/model/manifest/manifest-problem.js';
import { readManifest } from '../../../src/model/manifest/parse-manifest.js';
import { unmark, withContainer, withMetadata, withSpec } from './marked.js';

const pod = (name: string): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {containers: [{name: c, image: i}]}\n`;

const read = (text: string) => readManifest(text, { file: 'p.yaml' });
const namesOf = (text: string) => read(text).pods.map(({ pod: { metadata } }) => metadata.name);
const said = (text: string) => read(text).problems.map(formatManifestProblem);

describe('readManifest', () => {
  it.each<[what: string, text: string, names: readonly string[]]>([
    ['one pod', pod('a'), ['a']],
    ['several documents', [pod('a'), pod('b'), pod('c')].join('---\n'), ['a', 'b', 'c']],
    ['empty documents between', `---\n---\n${pod('a')}---\n# nothing\n---\n${pod('b')}---\n`, ['a', 'b']],
    ['a document end mark', `${pod('a')}...\n---\n${pod('b')}`, ['a', 'b']],
    ['comments only', '# later\n', []],
    ['a byte order mark and CRLF', `\uFEFF${pod('a').replaceAll('\n', '\r\n')}`, ['a']],
    [
      'JSON',
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'a' },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      }),
      ['a'],
    ],
    [
      'JSON with tabs',
      '{\n\t"apiVersion": "v1",\n\t"kind": "Pod",\n\t"metadata": {"name": "a"},\n\t"spec": {"containers": [{"name": "c", "image": "i"}]}\n}\n',
      ['a'],
    ],
    [
      'a PodList',
      `apiVersion: v1\nkind: PodList\nmetadata: {}\nitems:\n- metadata: {name: a}\n  spec: {containers: [{name: c, image: i}]}\n`,
      ['a'],
    ],
    [
      'a List',
      `apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n  spec: {containers: [{name: c, image: i}]}\n`,
      ['a'],
    ],
    ['an empty list', 'apiVersion: v1\nkind: PodList\nitems: []\n', []],
    [
      'what kubectl prints',
      withMetadata(
        'name: a\ncreationTimestamp: null\nresourceVersion: "7"\nmanagedFields: [{manager: x, fieldsV1: {"f:a": {}}}]',
      ) + 'status: {phase: Running, somethingNew: 1}\n',
      ['a'],
    ],
    ['nulls for what is not set', withSpec('volumes:\nnodeSelector: ~\nhostname: null'), ['p']],
    [
      'anchors and merge keys',
      withSpec('hostAliases: [&one {ip: 10.0.0.1, hostnames: [a]}, {<<: *one, hostnames: [b]}]'),
      ['p'],
    ],
  ])('reads %s', (_what, text, names) => {
    expect(said(text)).toEqual([]);
    expect(namesOf(text)).toEqual(names);
  });

  it('reads values as YAML 1.1 has them, and leaves times and base-60 numbers alone', () => {
    const text = withSpec(
      'hostNetwork: yes\nvolumes: [{name: v, projected: {defaultMode: 0440, sources: []}}]',
    ).replace('image: i', 'image: i, args: [2026-01-01, 22:22, "yes"]');
    const [{ pod: read1 } = { pod: undefined }] = read(text).pods;
    expect(read1?.spec.hostNetwork).toBe(true);
    expect(read1?.spec.volumes?.[0]?.projected?.defaultMode).toBe(0o440);
    expect(read1?.spec.containers[0]?.args).toEqual(['2026-01-01', '22:22', 'yes']);
  });

  it('takes quantities as numbers, and the empty value of an annotation as empty text', () => {
    const text = withContainer('resources: {limits: {cpu: 0.5, memory: 1e6}}').replace(
      'name: p\n',
      'name: p\n  annotations: {a: }\n',
    );
    const [found] = read(text).pods;
    expect(found?.pod.spec.containers[0]?.resources?.limits).toEqual({ cpu: '500m', memory: '1M' });
    expect(found?.pod.metadata.annotations).toEqual({ a: '' });
  });

  it('takes quantities with blanks around them, and ones that no machine has', () => {
    const text = withContainer(`resources: {limits: {cpu: "1e400", memory: " 1Gi ", a.b/c: "${'9'.repeat(40_000)}"}}`);
    expect(said(text)).toEqual([]);
    const [found] = read(text).pods;
    expect(found?.pod.spec.containers[0]?.resources?.limits).toMatchObject({ cpu: '10e399', memory: '1Gi' });
  });

  it('says where each pod stands', () => {
    const text = `# first\n${pod('a')}---\napiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: b}\n  spec: {containers: [{name: c, image: i}]}\n`;
    expect(read(text).pods.map(({ document, line, column }) => [document, line, column])).toEqual([
      [1, 2, 1],
      [2, 10, 3],
    ]);
  });

  it.each<[field: string, message: string, marked: string]>([
    ['', 'is empty (expected a Pod)', '▸'],
    ['', 'is empty (expected a Pod)', '▸ \n \n'],
    ['', 'is a list', '▸- a\n'],
    ['', 'is the string "hello"', '▸hello\n'],
    ['kind', 'is missing', '▸apiVersion: v1\n'],
    ['kind', '"Deployment" does not run on a node by itself; only pods do', 'apiVersion: apps/v1\nkind: ▸Deployment\n'],
    ['kind', '"pod" does not', 'apiVersion: v1\nkind: ▸pod\n'],
    ['apiVersion', 'is "v2" (expected v1)', 'apiVersion: ▸v2\nkind: Pod\n'],
    ['apiVersion', 'is missing (expected v1)', '▸kind: Pod\n'],
    ['spec', 'is missing', '▸apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n'],
    ['metadata.name', 'is missing', withSpec('').replace('  name: p', '  ▸labels: {}')],
    ['metadata.name', 'is missing', '▸apiVersion: v1\nkind: Pod\nspec: {containers: []}\n'],
    [
      'spec',
      'is a list (expected a mapping with the fields of PodSpec)',
      'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: ▸[]\n',
    ],
    [
      'spec.containers',
      'is missing (expected a list)',
      'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: ▸{hostPID: true}\n',
    ],
    [
      'spec.containers',
      'is missing (expected a list)',
      'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  ▸containers:\n',
    ],
    ['spec.containers[0].name', 'is missing (expected a string)', withSpec('').replace('{name: c, ', '▸{')],
    [
      'spec.containers[0].imagee',
      'is not a known field (expected perhaps image)',
      withSpec('').replace('image: i', '▸imagee: i'),
    ],
    ['spec.containers[0].ImagePullPolicy', 'perhaps imagePullPolicy', withContainer('▸ImagePullPolicy: Always')],
    ['spec.containers[0].livenesProbe', 'perhaps livenessProbe', withContainer('▸livenesProbe: {}')],
    [
      'spec.containers[0].ports[0].port',
      'is not a known field (expected a field of ContainerPort)',
      withContainer('ports: [{containerPort: 1, ▸port: 1}]'),
    ],
    ['spec.replicas', 'is not a known field (expected a field of PodSpec)', withSpec('▸replicas: 2')],
    [
      'spec.containers[0].image',
      'is the number 5; put it in quotes (expected a string)',
      withSpec('').replace('image: i', 'image: ▸5'),
    ],
    [
      'spec.containers[0].env[0].value',
      'is the boolean true; put it in quotes',
      withContainer('env: [{name: a, value: ▸yes}]'),
    ],
    [
      'spec.containers[0].ports[0].containerPort',
      'is the string "80" (expected a whole number)',
      withContainer('ports: [{containerPort: ▸"80"}]'),
    ],
    [
      'spec.containers[0].ports[0].containerPort',
      'is the number 80.5',
      withContainer('ports: [{containerPort: ▸80.5}]'),
    ],
    ['spec.hostNetwork', 'is the string "on!" (expected true or false)', withSpec('hostNetwork: ▸on!')],
    ['spec.containers[0].args', 'is the string "a" (expected a list)', withContainer('args: ▸a')],
    ['spec.nodeSelector', 'is a list (expected a mapping of names to values)', withSpec('nodeSelector: ▸[a]')],
    [
      'spec.containers[0].resources.limits.cpu',
      'is the string "1 core" (expected a quantity',
      withContainer('resources: {limits: {cpu: ▸1 core}}'),
    ],
    [
      'spec.containers[0].resources.limits.cpu',
      'is the number Infinity',
      withContainer('resources: {limits: {cpu: ▸.inf}}'),
    ],
    [
      'metadata.creationTimestamp',
      'is the string "yesterday" (expected a time',
      withMetadata('name: p\ncreationTimestamp: ▸yesterday'),
    ],
    ['items', 'is a mapping (expected a list of pods)', 'apiVersion: v1\nkind: PodList\nitems: ▸{}\n'],
    [
      'items[1].kind',
      '"Service" does not run',
      'apiVersion: v1\nkind: List\nitems:\n- {kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i}]}}\n- kind: ▸Service\n',
    ],
    [
      'items[0].spec.hostname',
      'is "A"',
      'apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}\n  spec:\n    hostname: ▸A\n    containers: [{name: c, image: i}]\n',
    ],
    ['items[0].apiVersion', 'is "v2"', 'apiVersion: v1\nkind: List\nitems: [{apiVersion: ▸v2, kind: Pod}]\n'],
    ['items[0]', 'is the string "x"', 'apiVersion: v1\nkind: List\nitems: [▸x]\n'],
    ['', 'map keys must be unique', withSpec('hostname: a\n▸hostname: b')],
    ['', 'tabs are not allowed as indentation', 'apiVersion: v1\nkind: Pod\nmetadata:\n▸\tname: a\n'],
    ['', 'unresolved alias', 'apiVersion: v1\nkind: Pod\nmetadata: ▸*nowhere\n'],
    [
      '',
      'excessive alias count: holds more than 100000 fields and list items',
      `a: &a [${'x,'.repeat(99)}x]\nb: &b [${'*a,'.repeat(100)}*a]\nc: [${'*b,'.repeat(8)}▸*b, *b, *b]\n`,
    ],
    ['', 'an alias stands inside its own anchor', 'kind: Pod\nmetadata: &m\n  annotations: ▸*m\n'],
    [
      'spec.hostAliases[1].ip',
      'is "x"',
      withSpec('hostAliases:\n- &a {ip: ▸x, hostnames: []}\n- {<<: *a, ip: 10.0.0.1}').replace(
        '{<<: *a, ip: 10.0.0.1}',
        '{<<: *a}',
      ),
    ],
  ])('says of %s: %s', (field, message, marked) => {
    const { text, line, column } = unmark(marked);
    const found = read(text).problems.find((problem) => problem.field === field);
    expect(found && formatManifestProblem(found)).toContain(message);
    expect(found && [found.line, found.column]).toEqual([line, column]);
  });

  it('reads the documents around a broken one', () => {
    const text = [pod('a'), 'a: [1\n', pod('b'), pod('C'), pod('d')].join('---\n');
    expect(namesOf(text)).toEqual(['a', 'b', 'd']);
    expect(read(text).problems.map(({ document, field }) => [document, field])).toEqual([
      [2, ''],
      [4, 'metadata.name'],
    ]);
  });

  it('keeps the good pods of a list with a bad one', () => {
    const item = (name: string) => `- {metadata: {name: ${name}}, spec: {containers: [{name: c, image: i}]}}\n`;
    const text = `apiVersion: v1\nkind: PodList\nitems:\n${['a', 'B', 'c'].map(item).join('')}`;
    expect(namesOf(text)).toEqual(['a', 'c']);
  });

  it('says everything that is wrong, from top to bottom', () => {
    const text = withContainer('ports: [{containerPort: 0}, {containerPort: 70000}]\nimagePullPolicy: never').replace(
      'name: p',
      'name: P',
    );
    expect(said(text).map((line) => line.split(' ')[0])).toEqual([
      'p.yaml:4:9:',
      'p.yaml:9:29:',
      'p.yaml:9:49:',
      'p.yaml:10:22:',
    ]);
  });

  it('warns of hooks that are never run, and keeps the pod', () => {
    const lifecycle = 'lifecycle: {postStart: {tcpSocket: {port: 80}}, preStop: {exec: {command: [x]}}}';
    const { pods, problems, warnings } = readManifest(withContainer(lifecycle), { file: 'p.yaml' });
    expect(pods).toHaveLength(1);
    expect(problems).toEqual([]);
    expect(warnings.map(formatManifestProblem)).toEqual([
      'p.yaml:9:29: spec.containers[0].lifecycle.postStart.tcpSocket: is not run by any kubelet: the hook always fails (expected exec, httpGet or sleep)',
    ]);
  });

  it('a variable or an argument that Linux refuses is warned of, and the longest one is not', () => {
    const [most, more] = ['x'.repeat(131_071), 'x'.repeat(131_072)];
    const fields = [
      `env: [{name: A, value: ${most.slice(2)}}, {name: B, value: ${more.slice(2)}}]`,
      `command: [${most}, ${more}]`,
      `args: [${more}]`,
      `livenessProbe: {exec: {command: [a, ${more}]}}`,
      `lifecycle: {preStop: {exec: {command: [${more}]}}}`,
    ];
    const { pods, warnings } = readManifest(withContainer(fields.join('\n')), { file: 'p.yaml' });
    expect(pods).toHaveLength(1);
    const why = 'has 131072 bytes: Linux starts no program with it (expected at most 131071)';
    expect(
      warnings.map(formatManifestProblem).map((line) => line.replace(/^p\.yaml:\d+:\d+: spec\.containers\[0\]\./, '')),
    ).toEqual([
      `env[1].value: with its name ${why}`,
      `command[1]: ${why}`,
      `args[0]: ${why}`,
      `livenessProbe.exec.command[1]: ${why}`,
      `lifecycle.preStop.exec.command[0]: ${why}`,
    ]);
  });

  it('is not confused by names that objects have anyway', () => {
    expect(said(withSpec('constructor: {}'))).toEqual([
      'p.yaml:7:3: spec.constructor: is not a known field (expected a field of PodSpec)',
    ]);
    expect(said(withSpec('__proto__: {}'))).toEqual([
      'p.yaml:7:3: spec.__proto__: is not a known field (expected a field of PodSpec)',
    ]);
  });
});

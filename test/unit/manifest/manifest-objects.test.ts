import { describe, expect, it } from 'vitest';
import { formatManifestProblem } from '../../../src/model/manifest/manifest-problem.js';
import { readManifest } from '../../../src/model/manifest/parse-manifest.js';
import { unmark } from './marked.js';

const read = (text: string, hasApiServer = false) => readManifest(text, { file: 'f.yaml' }, { hasApiServer });
const objectsOf = (text: string) => read(text).objects.map(({ object }) => object);
const said = (text: string) => read(text).problems.map(formatManifestProblem);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const configMap = (fields: string, name = 'a'): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n${fields}\n`;
const secret = (fields: string, name = 'a'): string =>
  `apiVersion: v1\nkind: Secret\nmetadata: {name: ${name}}\n${fields}\n`;
const POD = 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n';
const item = (text: string): string => `- ${text.trimEnd().replaceAll('\n', '\n  ')}\n`;

describe('ConfigMaps and Secrets of manifests', () => {
  it('stand beside pods, several in a text', () => {
    const { pods, objects, problems } = read([configMap('data: {k: v}'), POD, secret('data: {k: dg==}')].join('---\n'));
    expect(problems).toEqual([]);
    expect(pods).toHaveLength(1);
    expect(objects).toMatchObject([
      { object: { kind: 'ConfigMap', data: { k: 'v' } }, document: 1, line: 1 },
      { object: { kind: 'Secret', data: { k: 'dg==' } }, document: 3, line: 11 },
    ]);
  });

  it.each<[what: string, text: string, keys: readonly string[]]>([
    [
      'List',
      `apiVersion: v1\nkind: List\nitems:\n${item(POD)}${item(configMap(''))}${item(secret(''))}`,
      ['ConfigMap', 'Secret'],
    ],
    [
      'ConfigMapList',
      'apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\n',
      ['ConfigMap', 'ConfigMap'],
    ],
    [
      'SecretList',
      'apiVersion: v1\nkind: SecretList\nmetadata: {resourceVersion: ""}\nitems:\n- metadata: {name: a}\n',
      ['Secret'],
    ],
  ])('come in a %s', (_what, text, kinds) => {
    expect(said(text)).toEqual([]);
    expect(objectsOf(text).map(({ kind }) => kind)).toEqual(kinds);
  });

  it('have the defaults of the API, and nothing that no pod uses', () => {
    const noise =
      'labels: {a: b}, annotations: {kubectl.kubernetes.io/last-applied-configuration: x}, resourceVersion: "7"';
    expect(objectsOf(secret('stringData: {k: v}').replace('name: a', `name: a, ${noise}`))).toEqual([
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'a', namespace: 'default', uid: expect.stringMatching(/^[0-9a-f]{32}$/) as unknown },
        type: 'Opaque',
        data: { k: base64('v') },
      },
    ]);
    const [object] = objectsOf(configMap('immutable: true').replace('name: a', 'name: a, namespace: prod, uid: u'));
    expect(object).toMatchObject({ metadata: { name: 'a', namespace: 'prod', uid: 'u' }, immutable: true });
  });

  it('take stringData over data, and base64 with line breaks', () => {
    const [object] = objectsOf(
      secret('data:\n  k: b2xk\n  long: |\n    YWJj\n    ZGVm\n  none:\nstringData: {k: "new\\n"}'),
    );
    expect(object?.data).toEqual({ k: base64('new\n'), long: 'YWJjZGVm', none: '' });
  });

  const kib = (count: number) => 'x'.repeat(count * 1024);
  it.each<[what: string, manifest: string, problem: string]>([
    [
      'a number',
      configMap('data: {port: ▸8080}'),
      'data.port: is the number 8080; put it in quotes (expected a string)',
    ],
    ['no mapping', configMap('data: ▸[a]'), 'data: is a list (expected a mapping of names to values)'],
    ['an unknown field', configMap('▸dta: {a: b}'), 'dta: is not a known field (expected perhaps data)'],
    [
      'no name',
      `▸apiVersion: v1\nkind: ConfigMap\ndata: {}\n`,
      'metadata.name: is missing (expected a name for the ConfigMap)',
    ],
    ['a key with a slash', configMap('data: {▸a/b: c}'), 'data["a/b"]: is "a/b" (expected at most 253 letters'],
    ['the key ..', configMap('binaryData: {▸..: ""}'), 'binaryData[".."]: is ".." (expected at most 253 letters'],
    [
      'a key that begins with ..',
      secret('stringData: {▸..data: c}'),
      'stringData["..data"]: is "..data" (expected at most',
    ],
    ['a long key', secret(`data: {▸${'k'.repeat(254)}: ""}`), 'is 254 characters long (expected at most 253 letters'],
    [
      'a key twice',
      configMap('data: {a: b}\nbinaryData: {▸a: ""}'),
      'binaryData.a: is also a key of data (expected each key once)',
    ],
    [
      'no base64 in a ConfigMap',
      configMap('binaryData: {a: ▸"*"}'),
      'binaryData.a: is the string "*" (expected base64 text)',
    ],
    ['no base64 in a Secret', secret('data: {a: ▸hunter2}'), 'data.a: is a string (expected base64 text)'],
    [
      'more than 1 MiB of text',
      configMap(`data: ▸{a: ${kib(512)}, b: ${kib(512)}, c: d}`),
      'data: holds 1048577 bytes (expected at most 1048576 bytes)',
    ],
    [
      'more than 1 MiB of bytes',
      secret(`data: ▸{a: ${base64(`${kib(1024)}x`)}}`),
      'data: holds 1048577 bytes (expected at most 1048576 bytes)',
    ],
    [
      'no docker logins',
      secret('type: kubernetes.io/dockerconfigjson\ndata: ▸{a: ""}'),
      'data[".dockerconfigjson"]: is missing (expected logins of registries in JSON)',
    ],
    [
      'docker logins that are not JSON',
      secret('type: kubernetes.io/dockercfg\nstringData: {.dockercfg: ▸hunter2}'),
      'stringData[".dockercfg"]: is not JSON (expected logins',
    ],
    [
      'no user',
      secret('type: kubernetes.io/basic-auth\ndata: ▸{a: ""}'),
      'data.username: is missing (expected username, password or both)',
    ],
    [
      'no SSH key',
      secret('type: kubernetes.io/ssh-auth\ndata: {ssh-privatekey: ▸""}'),
      'data.ssh-privatekey: is missing',
    ],
    [
      'no TLS key',
      secret('type: kubernetes.io/tls\ndata: ▸{tls.crt: ""}'),
      'data["tls.key"]: is missing (expected a certificate and its key)',
    ],
    ['an API version', configMap('').replace('v1', '▸v2'), 'apiVersion: is "v2" (expected v1)'],
    [
      'a foreign item',
      'apiVersion: v1\nkind: SecretList\nitems:\n- kind: ▸Pod\n',
      'items[0].kind: is "Pod" (expected Secret)',
    ],
    [
      'a foreign kind',
      'apiVersion: v1\nkind: ▸Service\n',
      'kind: "Service" does not run on a node by itself; only pods do (expected Pod, ConfigMap, Secret, or a list of these)',
    ],
  ])('are refused with %s, at its place', (_what, manifest, problem) => {
    const { text, line, column } = unmark(manifest);
    const [first, ...others] = said(text);
    expect(first).toMatch(new RegExp(`^f\\.yaml:${line}:${column}: `));
    expect(first).toContain(problem);
    expect(others).toEqual([]);
    expect(objectsOf(text)).toEqual([]);
  });

  it.each(['Web', 'a_b', 'a-', ''])('are refused with the name %j, which a pod may have in parts', (name) => {
    expect(said(configMap('', JSON.stringify(name)))).toEqual([expect.stringContaining('metadata.name: is ')]);
  });

  it('have types that need certain keys', () => {
    const good = [
      'type: kubernetes.io/dockerconfigjson\nstringData: {.dockerconfigjson: "{}"}',
      'type: kubernetes.io/basic-auth\nstringData: {password: a}',
      'type: kubernetes.io/ssh-auth\nstringData: {ssh-privatekey: a}',
      'type: kubernetes.io/tls\ndata: {tls.crt: "", tls.key: ""}',
      'type: example.com/own',
      'type: constructor',
    ];
    for (const fields of good) expect(said(secret(fields))).toEqual([]);
    expect(said(secret('type: kubernetes.io/service-account-token'))).toEqual([
      expect.stringContaining('is missing (expected the name of a service account)'),
    ]);
  });

  it('are refused on a node with an API server', () => {
    for (const text of [configMap(''), secret(''), `apiVersion: v1\nkind: SecretList\nitems: []\n`]) {
      expect(read(text).problems).toEqual([]);
      expect(read(text, true).problems).toMatchObject([
        {
          line: 2,
          message: expect.stringMatching(
            /^"\w+" of a manifest is used only on a node without an API server$/,
          ) as unknown,
        },
      ]);
    }
  });
});

describe('a Secret of a manifest that cannot be used', () => {
  const VALUE = 'hunter2-is-the-value';
  it.each(
    [
      secret(`data: {k: ${VALUE}}`),
      secret(`data: ${VALUE}`),
      secret(`stringData: ${VALUE}`),
      secret(`stringData: [${VALUE}]`),
      secret(`stringData: {k: [${VALUE}]}`),
      secret(`stringData: {k: {a: ${VALUE}}}`),
      secret(`stringData: {k: *${VALUE}}`),
      secret(`stringData: {k: !${VALUE}!x y}`),
      secret(`stringData: {k: !!int ${VALUE}}`),
      secret(`stringData: {k: !!binary ${VALUE}}`),
      secret(`stringData:\n  k: "${VALUE}\n`),
      secret(`stringData:\n  k: ${VALUE}: a\n`),
      secret(`stringData:\n\tk: ${VALUE}\n`),
      secret(`stringData: {k: ${VALUE}, k: ${VALUE}}`),
      secret(`immutable: ${VALUE}`),
      secret(`password: ${VALUE}`),
      secret(`type: kubernetes.io/dockerconfigjson\nstringData: {.dockerconfigjson: ${VALUE}}`),
      secret('').replace('name: a', `name: a, annotations: [${VALUE}]`),
      `{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "stringData": {"k": *${VALUE}}}`,
      `apiVersion: v1\nkind: SecretList\nitems:\n- stringData: ${VALUE}\n`,
      `apiVersion: v1\nkind: List\nitems:\n${item(secret(`data: {k: ${VALUE}}`))}`,
    ].map((text, index) => [index, text] as const),
  )('has a problem without its values, form %i', (_index, text) => {
    expect(said(text)).not.toEqual([]);
    expect(JSON.stringify(read(text))).not.toContain('hunter2');
  });

  it('has no number of it in the problem', () => {
    const text = secret('stringData: {pin: 73912846}');
    expect(said(text)).toEqual([
      expect.stringContaining('stringData.pin: is a number; put it in quotes (expected a string)'),
    ]);
  });
});

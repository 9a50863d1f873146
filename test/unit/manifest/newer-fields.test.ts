import { describe, expect, it } from 'vitest';
import { formatManifestProblem } from '../../../src/model/manifest/manifest-problem.js';
import { readManifest } from '../../../src/model/manifest/parse-manifest.js';

const read = (container: string, spec = '', gates: readonly string[] = []) =>
  readManifest(
    `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i, ${container}}], ${spec}}}`,
    { file: 'p' },
    { gates },
  );
const problemsOf = (container: string, spec?: string, gates?: readonly string[]): readonly string[] =>
  read(container, spec, gates).problems.map((problem) => formatManifestProblem(problem).replace(/^p:\d+:\d+: /, ''));

const unsupported = (gate: string): string =>
  `is a field of Kubernetes 1.37 (alpha gate ${gate}) that this agent does not support (expected it to be absent`;
const withVolume = (volume: string): readonly [string, string] => [
  'volumeMounts: [{name: v, mountPath: /v}]',
  `volumes: [{name: v, ${volume}}]`,
];

describe('a field of 1.37', () => {
  it.each<[field: string, found: readonly string[], gate: string]>([
    [
      'spec.containers[0].volumeMounts[0].bindMountOptions',
      problemsOf(
        'volumeMounts: [{name: v, mountPath: /v, bindMountOptions: [noexec]}]',
        'volumes: [{name: v, emptyDir: {}}]',
      ),
      'VolumeBindMountOptions',
    ],
    ['spec.volumes[0].emptyDir.mode', problemsOf(...withVolume('emptyDir: {mode: 0700}')), 'EmptyDirVolumeMode'],
    [
      'spec.volumes[0].configMap.defaultUser',
      problemsOf(...withVolume('configMap: {name: m, defaultUser: 7}')),
      'AtomicWriteVolumeUserFields',
    ],
    [
      'spec.volumes[0].downwardAPI.items[0].user',
      problemsOf(...withVolume('downwardAPI: {items: [{path: x, user: 7, fieldRef: {fieldPath: metadata.name}}]}')),
      'AtomicWriteVolumeUserFields',
    ],
  ])('is refused with its release and gate: %s', (field, found, gate) => {
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`${field}: ${unsupported(gate)}`);
  });

  it.each([
    ['emptyDir.mode 0777', withVolume('emptyDir: {mode: 0777}')],
    ['httpGet.protocol HTTP1', ['livenessProbe: {httpGet: {port: 1, protocol: HTTP1}}', '']],
    ['grpc.mode Plaintext', ['readinessProbe: {grpc: {port: 1, mode: Plaintext}}', '']],
    ['a null', withVolume('emptyDir: {mode: null}')],
  ] as const)('may ask for what the agent does: %s', (_, [container, spec]) => {
    const { pods, problems, warnings } = read(container, spec);
    expect({ problems, warnings }).toEqual({ problems: [], warnings: [] });
    expect(JSON.stringify(pods)).not.toMatch(/HTTP1|Plaintext|"mode"/);
  });

  it.each([
    ['GRPCContainerProbeTLS', 'grpc.mode', 'readinessProbe: {grpc: {port: 1, mode: TLS}}', 'Plaintext'],
    ['H2CContainerProbe', 'httpGet.protocol', 'livenessProbe: {httpGet: {port: 1, protocol: HTTP2}}', 'HTTP1'],
  ])('that the agent follows with the gate %s names it while it is off: %s', (gate, field, container, usual) => {
    const found = problemsOf(container);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`${field}: is a field of Kubernetes 1.37 behind the alpha gate ${gate}, which is off`);
    expect(found[0]).toContain(`(expected it to be absent, or ${usual})`);
    const { pods, problems } = read(container, '', [gate]);
    expect(problems).toEqual([]);
    expect(JSON.stringify(pods)).toMatch(/"mode":"TLS"|"protocol":"HTTP2"/);
  });

  it('has to have a value of the API while its gate is on', () => {
    const gates = ['GRPCContainerProbeTLS'];
    const grpc = (mode: string) => problemsOf(`startupProbe: {grpc: {port: 1, mode: ${mode}}}`, '', gates);
    expect(grpc('Verify')).toEqual([
      'spec.containers[0].startupProbe.grpc.mode: is "Verify" (expected Plaintext, TLS)',
    ]);
    expect(grpc('7')).toHaveLength(1);
    expect(grpc('null')).toEqual([]);
  });

  it.each([
    ['{port: 1, protocol: HTTP3}', ['livenessProbe.httpGet.protocol: is "HTTP3" (expected HTTP1, HTTP2)']],
    [
      '{port: 1, protocol: HTTP2, scheme: HTTPS}',
      ['livenessProbe.httpGet.scheme: is "HTTPS" beside protocol HTTP2 (expected HTTP)'],
    ],
    [
      '{port: 1, protocol: HTTP2, host: a.test}',
      [
        'livenessProbe.httpGet.host: is set beside protocol HTTP2 (expected it to be absent, for the address of the pod)',
      ],
    ],
    ['{port: 1, protocol: HTTP2, scheme: HTTP, host: ""}', []],
    ['{port: 1, protocol: HTTP1, scheme: HTTPS, host: a.test}', []],
  ])('speaks HTTP/2 without TLS and to the pod: %s', (action, problems) => {
    expect(problemsOf(`livenessProbe: {httpGet: ${action}}`, '', ['H2CContainerProbe'])).toEqual(
      problems.map((problem) => `spec.containers[0].${problem}`),
    );
  });

  it('is for probes, not for hooks', () => {
    const hook = (protocol: string) =>
      problemsOf(`lifecycle: {preStop: {httpGet: {port: 1, protocol: ${protocol}}}}`, '', ['H2CContainerProbe']);
    expect(hook('HTTP2')).toEqual([
      'spec.containers[0].lifecycle.preStop.httpGet.protocol: is "HTTP2" in a hook (expected HTTP1, since only probes speak HTTP/2)',
    ]);
    expect(hook('HTTP1')).toEqual([]);
  });

  it('is refused with the gate of another one, and with its own gate if the agent does not follow it', () => {
    const mode = problemsOf('readinessProbe: {grpc: {port: 1, mode: TLS}}', '', ['EmptyDirVolumeMode']);
    expect(mode).toHaveLength(1);
    expect(problemsOf(...withVolume('emptyDir: {mode: 0700}'), ['EmptyDirVolumeMode'])[0]).toContain(
      unsupported('EmptyDirVolumeMode'),
    );
  });

  it('that no kubelet reads is ignored', () => {
    const { pods, problems, warnings } = read('', 'evictionResponders: [{name: example.com/responder, priority: 7}]');
    expect({ problems, warnings }).toEqual({ problems: [], warnings: [] });
    expect(pods).toHaveLength(1);
  });

  it('is unknown at any other place', () => {
    expect(problemsOf('user: 7')[0]).toContain('spec.containers[0].user: is not a known field');
    expect(problemsOf('', 'constructor: 7')[0]).toContain('spec.constructor: is not a known field');
  });
});

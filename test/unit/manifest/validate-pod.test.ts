import { describe, expect, it } from 'vitest';
import { readManifest } from '../../../src/model/manifest/parse-manifest.js';
import { CONTAINERS, HANDLERS } from './bad-containers.js';
import { METADATA, SPEC, VOLUMES } from './bad-pods.js';
import { unmark, withBoth, withContainer, withInit, withMetadata, withSpec } from './marked.js';

const VOLUME = 'volumes: [{name: v, emptyDir: {}}]';

const read = (text: string) => readManifest(text, { file: 'pod.yaml' }, { preventStaticPodApiReferences: false });

const ROWS = { METADATA, SPEC, VOLUMES, CONTAINERS, HANDLERS };

describe('validatePod', () => {
  it('has more than a hundred ways to say no', () => {
    expect(Object.values(ROWS).flat().length).toBeGreaterThan(100);
  });

  for (const [group, rows] of Object.entries(ROWS)) {
    it.each(rows)(`finds in ${group.toLowerCase()}: %s %s`, (field, message, manifest) => {
      const { text, line, column } = unmark(manifest);
      const { pods, problems } = read(text);
      expect(pods).toEqual([]);
      expect(problems.map((problem) => [problem.field, problem.line, problem.column])).toEqual([[field, line, column]]);
      const [problem] = problems;
      expect(`${problem?.message} (expected ${problem?.expected})`).toContain(message);
    });
  }

  it.each([
    [
      'a sidecar with probes and lifecycle',
      withInit(
        'restartPolicy: Always\nlivenessProbe: {tcpSocket: {port: 1}}\nlifecycle: {preStop: {sleep: {seconds: 0}}}',
      ),
    ],
    [
      'all of the allowed names',
      withMetadata('name: a.b-c.d\nlabels: {"a.b/C_d.e": "", x: A_b.c}\nannotations: {"A.B/c": "any thing"}'),
    ],
    [
      'the same port for two protocols',
      withContainer('ports: [{containerPort: 53, hostPort: 53}, {containerPort: 53, hostPort: 53, protocol: UDP}]'),
    ],
    [
      'the same port on two addresses',
      withContainer(
        'ports: [{containerPort: 1, hostPort: 9, hostIP: 10.0.0.1}, {containerPort: 2, hostPort: 9, hostIP: 10.0.0.2}]',
      ),
    ],
    [
      'search domains with underscores and a trailing dot',
      withSpec('dnsConfig: {searches: [_tcp.a., ".", a_b.c], options: [{name: ndots, value: "2"}]}'),
    ],
    ['an IPv6 address that ends in an IPv4 one', withSpec('hostAliases: [{ip: "::ffff:10.0.0.1", hostnames: [a.b]}]')],
    [
      'rules for exit codes',
      withContainer(
        'restartPolicy: Never\nrestartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: NotIn, values: [0, 255]}}]',
      ),
    ],
    [
      'one volume in two places',
      withBoth(
        'volumeMounts: [{name: v, mountPath: /a, subPath: ..b}, {name: v, mountPath: /b, readOnly: true, recursiveReadOnly: IfPossible}]',
        VOLUME,
      ),
    ],
    [
      'an environment of every kind',
      withBoth(
        'env:\n- {name: "1 weird.name", value: ""}\n- {name: A, valueFrom: {fieldRef: {fieldPath: "metadata.labels[\'a/b\']"}}}\n- {name: B, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}}\n- {name: C, valueFrom: {fileKeyRef: {volumeName: v, path: p, key: k}}}',
        VOLUME,
      ),
    ],
    ['huge pages beside memory', withContainer('resources: {limits: {hugepages-2Mi: 4Mi, memory: 1Gi}}')],
    ['hostNetwork with default host ports', withBoth('ports: [{containerPort: 80}]', 'hostNetwork: true')],
  ])('accepts %s', (_what, text) => {
    const { pods, problems } = read(text);
    expect(problems).toEqual([]);
    expect(pods).toHaveLength(1);
  });
});

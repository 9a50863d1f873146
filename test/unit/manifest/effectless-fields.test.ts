import { expect, it } from 'vitest';
import { effectlessFields } from '../../../src/model/manifest/effectless-fields.js';
import { formatManifestProblem } from '../../../src/model/manifest/manifest-problem.js';
import { readManifest } from '../../../src/model/manifest/parse-manifest.js';

const warningsOf = (spec: string, container = '', annotations = ''): readonly string[] => {
  const text = `{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: {${annotations}}}, spec: {containers: [{name: c, image: i ${container}}] ${spec}}}`;
  const { problems, warnings } = readManifest(text, { file: 'p' });
  expect(problems).toEqual([]);
  return warnings.map((warning) => formatManifestProblem(warning).replace(/^p:\d+:\d+: /, ''));
};

const NO_DEVICES = 'is not supported, since only persistent volumes have devices: the container will not be created';
const EMPTY_DIR = ', volumes: [{name: v, emptyDir: {}}]';

it.each<[what: string, found: readonly string[], warnings: readonly string[]]>([
  ['a plain pod', warningsOf(', hostNetwork: true', ', resources: {limits: {cpu: 1, memory: 1Mi}}'), []],
  ['a mounted volume', warningsOf(EMPTY_DIR, ', volumeMounts: [{name: v, mountPath: /v}]'), []],
  [
    'a volume that no container mounts',
    warningsOf(EMPTY_DIR),
    ['spec.volumes[0]: has no effect: no container mounts it'],
  ],
  [
    'a mount of an init container',
    warningsOf(`${EMPTY_DIR}, initContainers: [{name: d, image: i, volumeMounts: [{name: v, mountPath: /v}]}]`),
    [],
  ],
  [
    'a mounted volume of a kind that is not supported',
    warningsOf(', volumes: [{name: v, nfs: {server: s, path: /}}]', ', volumeMounts: [{name: v, mountPath: /v}]'),
    ['spec.volumes[0]: is of a kind that is not supported (nfs): no container of the pod will start'],
  ],
  [
    'a resource that the node does not know, once',
    warningsOf('', ', resources: {limits: {example.com/gpu: 1}}'),
    ['spec.containers[0].resources.limits["example.com/gpu"]: has no effect: this node neither counts nor limits it'],
  ],
  [
    'a request of such a resource',
    warningsOf('', ', resources: {requests: {ephemeral-storage: 1Gi}}'),
    ['spec.containers[0].resources.requests.ephemeral-storage: has no effect: this node neither counts nor limits it'],
  ],
  [
    'a runtime class',
    warningsOf(', runtimeClassName: gvisor'),
    [
      'spec.runtimeClassName: has no effect on a node without a cluster, where the default handler of the runtime is used',
    ],
  ],
  [
    'a readiness gate',
    warningsOf(', readinessGates: [{conditionType: example.com/lb}]'),
    ['spec.readinessGates: only API clients set these conditions: without a cluster the pod never becomes ready'],
  ],
  [
    'what the embedded runtime does not apply',
    warningsOf(
      ', securityContext: {fsGroup: 7, seccompProfile: {type: RuntimeDefault}}',
      ', securityContext: {capabilities: {drop: [ALL]}, readOnlyRootFilesystem: true, seLinuxOptions: {level: s0}}',
    ),
    [
      'spec.containers[0].securityContext.seLinuxOptions: is not applied by the embedded runtime; other runtimes apply it',
      'spec.securityContext.seccompProfile: is not applied by the embedded runtime; other runtimes apply it',
    ],
  ],
  [
    'a policy for the group of persistent volumes',
    warningsOf(', securityContext: {fsGroup: 7, fsGroupChangePolicy: Always}'),
    ['spec.securityContext.fsGroupChangePolicy: has no effect: it is for persistent volumes, which are not supported'],
  ],
  [
    'a resize policy',
    warningsOf('', ', resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}]'),
    ['spec.containers[0].resizePolicy: has no effect: a pod of a manifest that changes is another pod'],
  ],
])('warns of what has no effect: %s', (_what, found, warnings) => {
  expect(found).toEqual(warnings);
});

it('warns of the pace of a probe that is none', () => {
  const [warning] = warningsOf('', '', 'rx-kubelet/probe-period-ms: c.liveness');
  expect(warning).toMatch(
    /^metadata\.annotations\["rx-kubelet\/probe-period-ms"\]: has no effect: "c\.liveness" is not a/,
  );
});

it('warns of block devices, which the rules of manifests refuse first', () => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i', volumeDevices: [{ name: 'v', devicePath: '/dev/v' }] }] },
  } as const;
  const found = [...effectlessFields(pod)];
  expect(found.map(({ path, message }) => [path, message])).toEqual([
    [['spec', 'containers', 0, 'volumeDevices'], NO_DEVICES],
  ]);
});

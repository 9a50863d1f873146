import { describe, expect, it } from 'vitest';
import { readManifest } from '../../../src/model/manifest/parse-manifest.js';
import { CONTAINERS, HANDLERS } from './bad-containers.js';
import { ANNOTATIONS, METADATA, OS, SCHEDULING, SPEC } from './bad-pods.js';
import { SELECTORS } from './bad-selectors.js';
import { STORAGE, VOLUMES } from './bad-volumes.js';
import { unmark, withBoth, withContainer, withInit, withMetadata, withSpec } from './marked.js';

const VOLUME = 'volumes: [{name: v, emptyDir: {}}]';

const read = (text: string) => readManifest(text, { file: 'pod.yaml' }, { preventStaticPodApiReferences: false });

const ROWS = { METADATA, ANNOTATIONS, SPEC, SCHEDULING, SELECTORS, OS, VOLUMES, STORAGE, CONTAINERS, HANDLERS };

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
    ['a grace period below zero', withSpec('terminationGracePeriodSeconds: -1')],
    ['an image volume without a reference', withSpec('volumes: [{name: v, image: {}}]')],
    ['a sleep of no time', withContainer('lifecycle: {preStop: {sleep: {}}}')],
    ['a kernel parameter without a value', withSpec('securityContext: {sysctls: [{name: net.a}]}')],
    ['a header without a value', withContainer('livenessProbe: {httpGet: {port: 1, httpHeaders: [{name: a}]}}')],
    [
      'exit codes that no process has, or none',
      withContainer(
        'restartPolicy: Never\nrestartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [256, -1]}}, {action: Restart, exitCodes: {operator: In, values: []}}]',
      ),
    ],
    ['empty entries of commands and amounts', withContainer('args: [a, ~]\nresources: {limits: {cpu: ~}}')],
    ['less than a thousandth of a CPU', withContainer('resources: {limits: {cpu: 0.0001}, requests: {cpu: 1m}}')],
    ['a name that ends in "-" until that of the node is added', withMetadata('name: a-')],
    [
      'empty texts where the API has a default',
      withBoth(
        'imagePullPolicy: ""\nterminationMessagePolicy: ""\nterminationMessagePath: ""\nports: [{containerPort: 1, protocol: ""}]\nenv: [{name: A, valueFrom: {fieldRef: {apiVersion: "", fieldPath: metadata.name}}}]',
        'restartPolicy: ""\ndnsPolicy: ""\nschedulerName: ""\nvolumes: [{name: v, image: {reference: a, pullPolicy: ""}}]',
      ),
    ],
    ['a pull secret without a name', withSpec('imagePullSecrets: [{}]')],
    [
      'amounts under names of Kubernetes',
      withContainer('resources: {limits: {kubernetes.io/x: 2, a.kubernetes.io/y: 1}}'),
    ],
    ['a pod-level limit of huge pages beside overhead', withSpec('overhead: {cpu: 1, hugepages-2Mi: 4Mi}')],
    [
      'a seccomp profile that is found missing only by its container',
      withContainer('securityContext: {seccompProfile: {type: Localhost, localhostProfile: ""}}'),
    ],
    [
      'options of a driver of its own',
      withSpec('volumes: [{name: v, flexVolume: {driver: a/b, options: {a.io/b: c}}}]'),
    ],
    [
      'users and credentials of Windows',
      withContainer(
        'securityContext: {windowsOptions: {gmsaCredentialSpecName: a.b, gmsaCredentialSpec: x, runAsUserName: "A.b-c\\\\some user"}}',
      ),
    ],
    [
      'finalizers, owners, and the beginning of a name',
      withMetadata(
        'name: p\ngenerateName: a-\nfinalizers: [kubernetes, example.com/a]\nownerReferences: [{apiVersion: apps/v1, kind: Event, name: a, uid: b, controller: true}, {apiVersion: v1, kind: A, name: c, uid: d}]',
      ),
    ],
    ['a group of pods', withSpec('schedulingGroup: {podGroupName: a}')],
    [
      'annotations for the signer of a certificate',
      withSpec(
        'volumes: [{name: v, projected: {sources: [{podCertificate: {keyType: ED25519, signerName: a.b/c, credentialBundlePath: p, userAnnotations: {a.b/d: e}}}]}}]',
      ),
    ],
    [
      'all that a scheduler reads',
      withSpec(
        'nodeSelector: {a/b: c}\npriorityClassName: a.b\naffinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, preference: {matchExpressions: [{key: a, operator: In, values: ["b c"]}, {key: d, operator: Gt, values: ["1"]}]}}]}, podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a/b, labelSelector: {matchLabels: {c: d}}, matchLabelKeys: [e], namespaces: [f]}]}}\ntopologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule, minDomains: 2, nodeTaintsPolicy: Honor}]',
      ),
    ],
    [
      'the same port of the node in two init containers, one after the other',
      withSpec(
        'initContainers: [{name: a, image: i, ports: [{containerPort: 1, hostPort: 9}]}, {name: b, image: i, ports: [{containerPort: 1, hostPort: 9}]}]',
      ),
    ],
    [
      'profiles in annotations that say what the fields say',
      'apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {container.apparmor.security.beta.kubernetes.io/c: localhost/a, controller.kubernetes.io/pod-deletion-cost: "-1"}}\nspec: {containers: [{name: c, image: i, securityContext: {appArmorProfile: {type: Localhost, localhostProfile: a}}}]}\n',
    ],
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
    [
      'another port of the node in an init container, beside hostNetwork',
      withSpec('hostNetwork: true\ninitContainers: [{name: a, image: i, ports: [{containerPort: 1, hostPort: 9}]}]'),
    ],
    ['hostNetwork with default host ports', withBoth('ports: [{containerPort: 80}]', 'hostNetwork: true')],
  ])('accepts %s', (_what, text) => {
    const { pods, problems } = read(text);
    expect(problems).toEqual([]);
    expect(pods).toHaveLength(1);
  });
});

import { describe, expect, it } from 'vitest';
import { readManifest } from '../../../src/model/manifest/parse-manifest.js';
import { withPodDefaults } from '../../../src/model/manifest/pod-defaults.js';
import { pullPolicyOf } from '../../../src/model/manifest/pull-policy.js';
import { withBoth, withContainer, withInit, withSpec } from './marked.js';

const podOf = (text: string) => {
  const { pods, problems } = readManifest(text, { file: 'p' }, { preventStaticPodApiReferences: false });
  expect(problems).toEqual([]);
  return pods[0]!.pod;
};
const specOf = (text: string) => podOf(text).spec;
const containerOf = (text: string) => specOf(text).containers[0];

describe('withPodDefaults', () => {
  it('fills in what every pod has', () => {
    expect(specOf(withSpec(''))).toEqual({
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      terminationGracePeriodSeconds: 30,
      schedulerName: 'default-scheduler',
      enableServiceLinks: true,
      securityContext: {},
      containers: [
        {
          name: 'c',
          image: 'i',
          imagePullPolicy: 'Always',
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
        },
      ],
    });
  });

  it('leaves alone what is given, zeros and false included', () => {
    const given = {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      enableServiceLinks: false,
      dnsPolicy: 'Default',
      schedulerName: 'x',
      securityContext: { runAsUser: 0 },
    };
    expect(
      specOf(withSpec(JSON.stringify(given).slice(1, -1).replaceAll(',"', '\n"').replaceAll(':', ': '))),
    ).toMatchObject(given);
  });

  it('changes nothing the second time', () => {
    const once = podOf(
      withBoth(
        'ports: [{containerPort: 80}]\nlivenessProbe: {grpc: {port: 1}}\nresources: {limits: {cpu: 1}}',
        'hostNetwork: true\nvolumes: [{name: v}]\nresources: {limits: {memory: 1Gi}}',
      ),
    );
    expect(withPodDefaults(once)).toEqual(once);
  });

  it.each([
    ['busybox', 'Always'],
    ['busybox:latest', 'Always'],
    ['busybox:1.36', 'IfNotPresent'],
    ['host:5000/busybox', 'Always'],
    ['host:5000/busybox:1', 'IfNotPresent'],
    ['busybox@sha256:abc', 'IfNotPresent'],
    ['busybox:latest@sha256:abc', 'Always'],
  ])('pulls %s %s', (image, policy) => {
    expect(pullPolicyOf(image)).toBe(policy);
  });

  it('gives probes their numbers, and takes zeros for absent', () => {
    const text = withContainer(
      'livenessProbe: {httpGet: {port: 80}, periodSeconds: 0, timeoutSeconds: 0}\nreadinessProbe: {grpc: {port: 1}, failureThreshold: 7}\nstartupProbe: {tcpSocket: {port: 1}}',
    );
    const numbers = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
    expect(containerOf(text)).toMatchObject({
      livenessProbe: { httpGet: { port: 80, path: '/', scheme: 'HTTP' }, ...numbers },
      readinessProbe: { grpc: { port: 1, service: '' }, ...numbers, failureThreshold: 7 },
      startupProbe: { tcpSocket: { port: 1 }, ...numbers },
    });
  });

  it('gives ports a protocol, and on the network of the node a port of the node', () => {
    const ports = 'ports: [{containerPort: 80}, {containerPort: 53, protocol: UDP}]';
    expect(containerOf(withContainer(ports))?.ports).toEqual([
      { containerPort: 80, protocol: 'TCP' },
      { containerPort: 53, protocol: 'UDP' },
    ]);
    expect(containerOf(withBoth(ports, 'hostNetwork: true'))?.ports).toEqual([
      { containerPort: 80, hostPort: 80, protocol: 'TCP' },
      { containerPort: 53, hostPort: 53, protocol: 'UDP' },
    ]);
  });

  it('asks for what the limits allow, unless less is asked for', () => {
    const text = withContainer('resources: {limits: {cpu: 2, memory: 1Gi}, requests: {cpu: 1}}');
    expect(containerOf(text)?.resources?.requests).toEqual({ cpu: '1', memory: '1Gi' });
  });

  it('asks for the whole pod what its containers ask for, else what its limits allow', () => {
    const resources = '{limits: {cpu: 4, memory: 1Gi}}';
    const init = 'restartPolicy: Always\nresources: {requests: {cpu: 500m}}';
    const spec = specOf(
      `${withInit(init).replace('image: i}', 'image: i, resources: {requests: {cpu: 1}}}')}  resources: ${resources}\n`,
    );
    expect(spec.resources?.requests).toEqual({ cpu: '1500m', memory: '1Gi' });
  });

  it('counts an init container that needs more than all that run later', () => {
    const init = 'resources: {requests: {cpu: 3}}';
    const spec = specOf(
      `${withInit(init).replace('image: i}', 'image: i, resources: {requests: {cpu: 1}}}')}  resources: {limits: {cpu: 4}}\n`,
    );
    expect(spec.resources?.requests).toEqual({ cpu: '3' });
  });

  it('gives lifecycle requests a path and a scheme, and references to fields a version', () => {
    const text = withContainer(
      'lifecycle: {postStart: {httpGet: {port: 1}}, preStop: {httpGet: {port: 1, path: /x, scheme: HTTPS}}}\nenv: [{name: a, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]',
    );
    expect(containerOf(text)).toMatchObject({
      lifecycle: {
        postStart: { httpGet: { path: '/', scheme: 'HTTP' } },
        preStop: { httpGet: { path: '/x', scheme: 'HTTPS' } },
      },
      env: [{ valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } }],
    });
  });

  it.each<[given: string, expected: object]>([
    ['{name: v}', { emptyDir: {} }],
    ['{name: v, secret: {secretName: a}}', { secret: { secretName: 'a', defaultMode: 0o644 } }],
    ['{name: v, configMap: {name: a, defaultMode: 0400}}', { configMap: { name: 'a', defaultMode: 0o400 } }],
    ['{name: v, hostPath: {path: /a}}', { hostPath: { path: '/a', type: '' } }],
    ['{name: v, image: {reference: "a:1"}}', { image: { reference: 'a:1', pullPolicy: 'IfNotPresent' } }],
    [
      '{name: v, iscsi: {iqn: eui.0123456789abcdef, lun: 1, targetPortal: b}}',
      { iscsi: { iqn: 'eui.0123456789abcdef', lun: 1, targetPortal: 'b', iscsiInterface: 'default' } },
    ],
    [
      '{name: v, downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.name}}]}}',
      {
        downwardAPI: {
          defaultMode: 0o644,
          items: [{ path: 'p', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } }],
        },
      },
    ],
    [
      '{name: v, projected: {sources: [{serviceAccountToken: {path: t}}]}}',
      { projected: { defaultMode: 0o644, sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }] } },
    ],
  ])('completes the volume %s', (given, expected) => {
    expect(specOf(withSpec(`volumes: [${given}]`)).volumes).toEqual([{ name: 'v', ...expected }]);
  });

  it.each<[row: string, given: string, expected: object]>([
    [
      'limits of huge pages from its containers, and requests of the same',
      'resources: {limits: {cpu: 2, memory: 1Gi}}, containers: [{name: a, image: a, resources: {limits: {memory: 1Gi, hugepages-2Mi: 4Mi}}}]',
      {
        limits: { cpu: '2', memory: '1Gi', 'hugepages-2Mi': '4Mi' },
        requests: { cpu: '2', memory: '1Gi', 'hugepages-2Mi': '4Mi' },
      },
    ],
    [
      'requests from what its containers request together',
      'resources: {limits: {cpu: 2}}, containers: [{name: a, image: a, resources: {requests: {cpu: 250m}}}, {name: b, image: a, resources: {requests: {cpu: 1}}}]',
      { limits: { cpu: '2' }, requests: { cpu: '1250m' } },
    ],
    [
      'nothing where it has no limits',
      'resources: {requests: {cpu: 2}}, containers: [{name: a, image: a, resources: {requests: {memory: 1Mi}}}]',
      { requests: { cpu: '2' } },
    ],
    ['nothing where it has neither', 'resources: {}, containers: [{name: a, image: a}]', {}],
  ])('gives the pod as a whole %s', (_, given, expected) => {
    const text = `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {${given}}}`;
    expect(specOf(text).resources).toEqual(expected);
  });

  it('takes a grace period below zero for the shortest, and zero for none', () => {
    expect(specOf(withSpec('terminationGracePeriodSeconds: -5')).terminationGracePeriodSeconds).toBe(1);
    expect(specOf(withSpec('terminationGracePeriodSeconds: 0')).terminationGracePeriodSeconds).toBe(0);
  });

  it('takes an empty text for absent', () => {
    const empty = 'imagePullPolicy: ""\nterminationMessagePolicy: ""\nterminationMessagePath: ""';
    expect(containerOf(withContainer(`${empty}\nports: [{containerPort: 1, protocol: ""}]`))).toMatchObject({
      imagePullPolicy: 'Always',
      terminationMessagePolicy: 'File',
      terminationMessagePath: '/dev/termination-log',
      ports: [{ protocol: 'TCP' }],
    });
    const volumes = [
      'image: {reference: a, pullPolicy: ""}',
      'rbd: {monitors: [m], image: i, pool: "", user: "", keyring: ""}',
      'scaleIO: {gateway: g, system: s, volumeName: vol, secretRef: {name: k}, storageMode: "", fsType: ""}',
      'iscsi: {targetPortal: p, iqn: "iqn.2000-01.a:b", lun: 0, iscsiInterface: ""}',
    ].map((source, index) => `{name: v${index}, ${source}}`);
    expect(
      specOf(withSpec(`restartPolicy: ""\ndnsPolicy: ""\nschedulerName: ""\nvolumes: [${volumes.join(', ')}]`)),
    ).toMatchObject({
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      schedulerName: 'default-scheduler',
      volumes: [
        { image: { pullPolicy: 'Always' } },
        { rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' } },
        { scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' } },
        { iscsi: { iscsiInterface: 'default' } },
      ],
    });
  });

  it('never pulls again for an image volume without a reference', () => {
    expect(specOf(withSpec('volumes: [{name: v, image: {}}]')).volumes).toEqual([
      { name: 'v', image: { pullPolicy: 'IfNotPresent' } },
    ]);
  });

  it('reads the old name of the service account', () => {
    expect(specOf(withSpec('serviceAccount: a'))).toMatchObject({ serviceAccountName: 'a' });
  });
});

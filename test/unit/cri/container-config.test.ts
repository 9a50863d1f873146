import { describe, expect, it } from 'vitest';
import { ContainerConfig } from '../../../src/generated/runtime/v1/api.js';
import { containerConfig, type ContainerConfigInput } from '../../../src/model/cri/container-config.js';
import type { Container, EphemeralContainer } from '../../../src/model/pod/pod.js';
import { aContainer, aNode, aPod, aRuntimePod, aStatus, exited } from '../pods.js';

const config = (container: Container | EphemeralContainer, fields: Partial<ContainerConfigInput> = {}) =>
  containerConfig({
    pod: aPod({ containers: [aContainer('web')] }),
    container,
    attempt: 2,
    image: { id: 'sha256:abc', user: { uid: 0n, username: '' } },
    podIps: ['10.0.0.1'],
    node: aNode(),
    status: aRuntimePod(),
    ...fields,
  });

it('describes a container to the runtime', () => {
  const container = aContainer('web', { workingDir: '/srv', stdin: true, tty: true });
  expect(config(container)).toMatchObject({
    metadata: { name: 'web', attempt: 2 },
    image: { image: 'sha256:abc', userSpecifiedImage: 'web:1' },
    command: [],
    args: [],
    workingDir: '/srv',
    labels: { 'io.kubernetes.container.name': 'web', 'io.kubernetes.pod.uid': 'uid-1' },
    annotations: { 'io.kubernetes.container.restartCount': '2' },
    logPath: 'web/2.log',
    stdin: true,
    stdinOnce: false,
    tty: true,
    linux: {
      resources: { cpuShares: 2n, oomScoreAdj: 1000n },
      securityContext: { namespaceOptions: { pid: 'CONTAINER' }, runAsUser: { value: 0n } },
    },
  });
});

describe('a variable', () => {
  const variable = { env: [{ name: 'K', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] };
  const objects = (value: Uint8Array) => ({ objects: { configMap: () => ({}), secret: () => ({ k: value }) } });

  it('has the bytes of its Secret in the request', () => {
    const { envs } = config(aContainer('web', variable), objects(Uint8Array.of(0xff, 0xfe, 0xfd)));
    expect(envs).toEqual([{ key: 'K', value: Buffer.from([0xff, 0xfe, 0xfd]) }]);
  });

  it.each([
    ['command', { command: ['$(K)'] }, [0xff], /^variable "K" is not UTF-8 text/],
    ['args', { args: ['a', 'b $(K)'] }, [0xff], /^variable "K" is not UTF-8 text/],
    ['a NUL byte', {}, [0x61, 0x00], /^variable "K" contains a NUL byte/],
  ])('is refused: %s', (_, fields, bytes, message) => {
    expect(() => config(aContainer('web', { ...variable, ...fields }), objects(Uint8Array.from(bytes)))).toThrow(
      message,
    );
  });
});

describe('what the agent itself mounts', () => {
  const hosts = { hostPath: '/pod/etc-hosts', containerPath: '/etc/hosts' };
  const data = { hostPath: '/data', containerPath: '/srv' };
  const volumeMounts = [{ name: 'data', mountPath: '/srv' }];

  it('comes after the volumes', () => {
    const { mounts } = config(aContainer('web', { volumeMounts }), { mounts: [data], agentMounts: [hosts] });
    expect(mounts).toEqual([data, hosts]);
  });

  it('keeps its owner in a user namespace, as the volumes do', () => {
    const mapping = { hostId: 65536, containerId: 0, length: 65536 };
    const { mounts } = config(aContainer('web', { volumeMounts }), {
      ...{ mounts: [data], agentMounts: [hosts], userNamespace: mapping },
    });
    const mappings = { uidMappings: [mapping], gidMappings: [mapping] };
    expect(mounts).toEqual([
      { ...data, ...mappings },
      { ...hosts, ...mappings },
    ]);
  });
});

it.each([
  { stopSignal: 'SIGUSR1', containerStopSignals: true, passed: 'SIGUSR1' },
  { stopSignal: 'SIGRTMIN+3', containerStopSignals: true, passed: 'SIGRTMINPLUS3' },
  { stopSignal: undefined, containerStopSignals: true, passed: 'RUNTIME_DEFAULT' },
  { stopSignal: 'SIGUSR1', containerStopSignals: false, passed: undefined },
])('passes the signal $stopSignal with the gate $containerStopSignals: $passed', ({ stopSignal, passed, ...gates }) => {
  const container = aContainer('web', { lifecycle: { stopSignal } });
  expect(config(container, { node: aNode(gates) }).stopSignal).toBe(passed);
});

it('expands commands with the whole environment', () => {
  const env = [
    { name: 'A', value: 'a' },
    { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
  ];
  const container = aContainer('web', {
    command: ['run', '$(A)', '$$(A)'],
    args: ['$(IP)', '$(SERVICE)', '$(NONE)'],
    env,
  });
  const { command, args } = config(container, { services: { SERVICE: 's' } });
  expect([command, args]).toEqual([
    ['run', 'a', '$(A)'],
    ['10.0.0.1', 's', '$(NONE)'],
  ]);
});

it('survives the wire, text that is not ASCII included', () => {
  const sent = config(aContainer('web', { env: [{ name: 'A', value: 'é' }] }));
  const received = ContainerConfig.decode(ContainerConfig.encode(ContainerConfig.fromPartial(sent)).finish());
  expect(received.envs.map(({ key, value }) => [key, value.toString()])).toEqual([['A', 'é']]);
  expect(received.linux?.resources?.cpuPeriod).toBe(100_000n);
});

describe('volumes', () => {
  const volumeMounts = [
    { name: 'v', mountPath: '/v' },
    { name: 'w', mountPath: 'relative' },
  ];
  const mounts = [
    { containerPath: '/v', hostPath: '/x' },
    { containerPath: '/relative', hostPath: '/y' },
  ];

  it('are mounted', () => {
    expect(config(aContainer('web', { volumeMounts }), { mounts }).mounts).toEqual(mounts);
  });
});

describe('an ephemeral container', () => {
  const debug: EphemeralContainer = { name: 'debug', image: 'debug:1', targetContainerName: 'web' };

  it('sees the processes of the newest instance of its target', () => {
    const status = aRuntimePod([aStatus('web', { id: 'web-1' }), exited('web', 1)]);
    expect(config(debug, { status }).linux?.securityContext?.namespaceOptions).toMatchObject({
      pid: 'TARGET',
      targetId: 'web-1',
    });
  });

  it('needs its target', () => {
    expect(() => config(debug)).toThrow('unable to find target container web');
  });
});

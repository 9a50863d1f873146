import type { V1NodeSelectorTerm } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import type { AdmissionFacts } from '../../../src/model/admission/admission-facts.js';
import { admitPod } from '../../../src/model/admission/admit-pod.js';
import { firstRejection, type Rejection } from '../../../src/model/admission/rejection.js';
import type { Container, Pod, PodSpec } from '../../../src/model/pod/pod.js';
import { aPod, type PodSketch } from '../../support/a-pod.js';

const facts: AdmissionFacts = {
  name: 'node-1',
  labels: { 'kubernetes.io/os': 'linux', disk: 'ssd', size: '10' },
  allocatable: { cpu: '2', memory: '1Gi', pods: '3' },
  kernelVersion: '6.1.0-13-amd64',
  allowedUnsafeSysctls: [],
  hasAppArmor: false,
};
const verdict = (
  sketch: PodSketch,
  { active = [], ...node }: Partial<AdmissionFacts> & { readonly active?: readonly Pod[] } = {},
): Rejection | undefined => {
  const rejection = admitPod(() => ({ ...facts, ...node }))(aPod(sketch), active);
  return rejection && withoutAmounts(rejection);
};
/** The message has them. */
const withoutAmounts = ({ missing: _, ...rejection }: Rejection): Rejection => rejection;

const asking = (requests: Readonly<Record<string, string>>): Partial<PodSpec> => ({
  containers: [{ name: 'main', resources: { requests } }],
});
const withSysctls = (...names: readonly string[]): Partial<PodSpec> => ({
  securityContext: { sysctls: names.map((name) => ({ name, value: '1' })) },
});
const withPort = (port: NonNullable<Container['ports']>[number]): Partial<PodSpec> => ({
  containers: [{ name: 'main', ports: [port] }],
});

describe('a node', () => {
  it('takes in a pod that asks for nothing', () => expect(verdict({})).toBeUndefined());

  it.each<{ case: string; spec: Partial<PodSpec>; node?: Partial<AdmissionFacts>; message: string }>([
    { case: 'an unsafe one', spec: withSysctls('net.core.somaxconn'), message: '"net.core.somaxconn" not allowlisted' },
    {
      case: 'the first that is wrong',
      spec: withSysctls('net.ipv4.tcp_syncookies', 'net/core/somaxconn', 'x'),
      message: '"net.core.somaxconn" not allowlisted',
    },
    {
      case: 'one that only newer kernels keep apart',
      spec: withSysctls('net.ipv4.tcp_rmem'),
      node: { kernelVersion: '4.14.336' },
      message: '"net.ipv4.tcp_rmem" not allowlisted',
    },
    {
      case: 'one of an unknown kernel',
      spec: withSysctls('net.ipv4.tcp_fin_timeout'),
      node: { kernelVersion: '' },
      message: '"net.ipv4.tcp_fin_timeout" not allowlisted',
    },
    {
      case: 'one of the network of the node',
      spec: { ...withSysctls('net.ipv4.tcp_syncookies'), hostNetwork: true },
      message: '"net.ipv4.tcp_syncookies" not allowed with host Net enabled',
    },
    {
      case: 'one of the memory of the node',
      spec: { ...withSysctls('kernel.shm_rmid_forced'), hostIPC: true },
      message: '"kernel.shm_rmid_forced" not allowed with host IPC enabled',
    },
    {
      case: 'one that is allowed, but of the node',
      spec: { ...withSysctls('fs.mqueue.msg_max'), hostIPC: true },
      node: { allowedUnsafeSysctls: ['fs.mqueue.*'] },
      message: '"fs.mqueue.msg_max" not allowed with host IPC enabled',
    },
    {
      case: 'one of the node that only its pattern knows',
      spec: { ...withSysctls('kernel.shm_next_id'), hostIPC: true },
      node: { allowedUnsafeSysctls: ['kernel.shm*'] },
      message: '"kernel.shm_next_id" not allowed with host IPC enabled',
    },
    {
      case: 'one beside a pattern',
      spec: withSysctls('net.corer'),
      node: { allowedUnsafeSysctls: ['net.core.*'] },
      message: '"net.corer" not allowlisted',
    },
  ])('refuses a kernel parameter: $case', ({ spec, node, message }) => {
    expect(verdict({ spec }, node)).toEqual({ reason: 'SysctlForbidden', message: `forbidden sysctl: ${message}` });
  });

  it.each<[string, Partial<AdmissionFacts>]>([
    ['kernel.shm_rmid_forced', { kernelVersion: '' }],
    ['net/ipv4/ip_local_port_range', {}],
    ['net.ipv4.tcp_rmem', { kernelVersion: '4.15' }],
    ['net.ipv4.tcp_notsent_lowat', { kernelVersion: '4.6' }],
    ['net.ipv4.tcp_slow_start_after_idle', { kernelVersion: '4.15' }],
    ['net.ipv4.tcp_keepalive_time', { kernelVersion: '5' }],
    ['net.core.somaxconn', { allowedUnsafeSysctls: ['net.core.*'] }],
    ['kernel.msgmax', { allowedUnsafeSysctls: ['kernel/msgmax'] }],
    ['kernel.shm_next_id', { allowedUnsafeSysctls: ['kernel/shm*'] }],
  ])('lets a pod set %s, as %j', (name, node) => expect(verdict({ spec: withSysctls(name) }, node)).toBeUndefined());

  it.each<{ case: string; sketch: PodSketch; node?: Partial<AdmissionFacts>; rejection: Rejection | undefined }>([
    {
      case: 'by a label of its own',
      sketch: { labels: { 'kubernetes.io/os': 'windows' }, spec: { os: { name: 'windows' } } },
      rejection: {
        reason: 'PodOSSelectorNodeLabelDoesNotMatch',
        message: "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
      },
    },
    {
      case: 'by its operating system',
      sketch: { spec: { os: { name: 'windows' } } },
      rejection: {
        reason: 'PodOSNotSupported',
        message: "Failed to admit pod as the OS field doesn't match node OS",
      },
    },
    {
      case: 'not when that is the same',
      sketch: { labels: { 'kubernetes.io/os': 'linux' }, spec: { os: { name: 'linux' } } },
      rejection: undefined,
    },
    {
      case: 'by groups that the runtime cannot keep apart',
      sketch: { spec: { securityContext: { supplementalGroupsPolicy: 'Strict' } } },
      node: { hasSupplementalGroupsPolicy: false },
      rejection: {
        reason: 'SupplementalGroupsPolicyNotSupported',
        message: 'SupplementalGroupsPolicy=Strict is not supported in this node',
      },
    },
    {
      case: 'not when it can',
      sketch: { spec: { securityContext: { supplementalGroupsPolicy: 'Strict' } } },
      node: { hasSupplementalGroupsPolicy: true },
      rejection: undefined,
    },
    {
      case: 'not when groups may be merged',
      sketch: { spec: { securityContext: { supplementalGroupsPolicy: 'Merge' } } },
      node: { hasSupplementalGroupsPolicy: false },
      rejection: undefined,
    },
  ])('refuses a pod $case', ({ sketch, node, rejection }) => expect(verdict(sketch, node)).toEqual(rejection));

  it.each<{ case: string; spec: Partial<PodSpec>; used?: Partial<PodSpec>; out: string | undefined }>([
    { case: 'as much as there is', spec: asking({ cpu: '2', memory: '1Gi' }), out: undefined },
    { case: 'nothing of what is used up', spec: asking({ cpu: '0' }), used: asking({ cpu: '3' }), out: undefined },
    {
      case: 'more than there is',
      spec: asking({ cpu: '2001m', memory: '2Gi' }),
      out: 'cpu, requested: 2001, used: 0, capacity: 2000',
    },
    {
      case: 'more than others leave',
      spec: asking({ cpu: '500m', memory: '600Mi' }),
      used: asking({ cpu: '1500m', memory: '500Mi' }),
      out: 'memory, requested: 629145600, used: 524288000, capacity: 1073741824',
    },
    {
      case: 'more with what the sandbox needs',
      spec: { ...asking({ cpu: '2' }), overhead: { cpu: '1m' } },
      out: 'cpu, requested: 2001, used: 0, capacity: 2000',
    },
    {
      case: 'more while it starts',
      spec: { ...asking({ cpu: '1' }), initContainers: [{ name: 'init', resources: { requests: { cpu: '3' } } }] },
      out: 'cpu, requested: 3000, used: 0, capacity: 2000',
    },
    {
      case: 'what the node does not state',
      spec: asking({ 'ephemeral-storage': '1Ti', 'a.test/gpu': '1' }),
      out: undefined,
    },
  ])('compares the free resources with the requests of a pod: $case', ({ spec, used, out }) => {
    const active = used ? [aPod({ uid: 'other', spec: used })] : [];
    const reason = `OutOf${out?.split(',')[0]}`;
    const message = `Node didn't have enough resource: ${out}`;
    expect(verdict({ spec }, { active })).toEqual(out === undefined ? undefined : { reason, message });
  });

  it('lists every resource that it lacks, the number of pods first', () => {
    const spec = asking({ memory: '2Gi', 'a.test/gpu': '1', cpu: '1' });
    const allocatable = { cpu: '1', memory: '1Gi', pods: '0', 'a.test/gpu': '0' };
    const { missing } = admitPod(() => ({ ...facts, allocatable }))(aPod({ spec }), []) ?? {};
    expect(missing?.map(({ resource }) => resource)).toEqual(['pods', 'memory', 'a.test/gpu']);
  });

  it('has a limit of pods, before anything else counts', () => {
    const active = ['a', 'b'].map((uid) => aPod({ uid }));
    expect(verdict({}, { active })).toBeUndefined();
    expect(verdict({ spec: asking({ cpu: '9' }) }, { active: [...active, aPod({ uid: 'c' })] })).toEqual({
      reason: 'OutOfpods',
      message: "Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3",
    });
  });

  it('counts other resources that it states', () => {
    const allocatable = { 'a.test/gpu': '1' };
    expect(verdict({ spec: asking({ 'a.test/gpu': '2' }) }, { allocatable })).toEqual({
      reason: 'OutOfa.test/gpu',
      message: "Node didn't have enough resource: a.test/gpu, requested: 2, used: 0, capacity: 1",
    });
  });

  it('has no huge pages of a size that it does not state', () => {
    const allocatable = { 'hugepages-2Mi': '4Mi' };
    expect(verdict({ spec: asking({ 'hugepages-2Mi': '4Mi' }) }, { allocatable })).toBeUndefined();
    expect(verdict({ spec: asking({ 'hugepages-1Gi': '1Gi' }) }, { allocatable })).toEqual({
      reason: 'OutOfhugepages-1Gi',
      message: "Node didn't have enough resource: hugepages-1Gi, requested: 1073741824, used: 0, capacity: 0",
    });
  });

  const terms = (...nodeSelectorTerms: V1NodeSelectorTerm[]): Partial<PodSpec> => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
      },
    },
  });
  const expression = (key: string, operator: string, ...values: string[]) => ({
    matchExpressions: [{ key, operator, values }],
  });
  it.each<{ spec: Partial<PodSpec>; matches: boolean }>([
    { spec: { nodeSelector: { disk: 'ssd', 'kubernetes.io/os': 'linux' } }, matches: true },
    { spec: { nodeSelector: { disk: 'ssd', zone: 'a' } }, matches: false },
    { spec: terms(expression('disk', 'In', 'hdd', 'ssd')), matches: true },
    { spec: terms(expression('disk', 'In', 'hdd')), matches: false },
    { spec: terms(expression('disk', 'NotIn', 'hdd')), matches: true },
    { spec: terms(expression('zone', 'NotIn', 'a')), matches: true },
    { spec: terms(expression('disk', 'NotIn', 'ssd')), matches: false },
    { spec: terms(expression('disk', 'Exists')), matches: true },
    { spec: terms(expression('zone', 'Exists')), matches: false },
    { spec: terms(expression('zone', 'DoesNotExist')), matches: true },
    { spec: terms(expression('disk', 'DoesNotExist')), matches: false },
    { spec: terms(expression('size', 'Gt', '9')), matches: true },
    { spec: terms(expression('size', 'Gt', '10')), matches: false },
    { spec: terms(expression('size', 'Lt', '11')), matches: true },
    { spec: terms(expression('disk', 'Lt', '11')), matches: false },
    { spec: terms(expression('zone', 'Exists'), expression('disk', 'Exists')), matches: true },
    { spec: terms({}), matches: false },
    { spec: terms({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }] }), matches: true },
    { spec: terms({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-2'] }] }), matches: false },
    { spec: { affinity: {} }, matches: true },
  ])('is what a pod selects, %j', ({ spec, matches }) => {
    expect(verdict({ spec })).toEqual(
      matches
        ? undefined
        : {
            reason: 'NodeAffinity',
            message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
          },
    );
  });

  it('takes in pods of its name, and any as long as it has none', () => {
    const spec = { nodeName: 'node-2' };
    expect(verdict({ spec })).toEqual({
      reason: 'NodeName',
      message: "Predicate NodeName failed: node(s) didn't match the requested node name",
    });
    expect(verdict({ spec: { nodeName: 'node-1' } })).toBeUndefined();
    expect(verdict({ spec }, { name: undefined })).toBeUndefined();
  });

  it.each<{
    wanted: NonNullable<Container['ports']>[number];
    taken?: NonNullable<Container['ports']>[number];
    fits: boolean;
  }>([
    { wanted: { containerPort: 80 }, fits: true },
    { wanted: { containerPort: 80, hostPort: 8081 }, fits: true },
    { wanted: { containerPort: 80, hostPort: 8080 }, fits: false },
    { wanted: { containerPort: 80, hostPort: 8080, protocol: 'UDP' }, fits: true },
    { wanted: { containerPort: 80, hostPort: 8080, hostIP: '127.0.0.1' }, fits: false },
    {
      wanted: { containerPort: 80, hostPort: 8080, hostIP: '127.0.0.1' },
      taken: { containerPort: 1, hostPort: 8080, hostIP: '192.0.2.1' },
      fits: true,
    },
  ])('gives a port to one pod only: $wanted', ({ wanted, taken = { containerPort: 1, hostPort: 8080 }, fits }) => {
    const active = [aPod({ uid: 'other', spec: withPort(taken) })];
    expect(verdict({ spec: withPort(wanted) }, { active })).toEqual(
      fits
        ? undefined
        : {
            reason: 'NodePorts',
            message: "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
            detail: expect.stringMatching(/^web_default has port \d+\/(TCP|UDP)$/) as string,
          },
    );
  });

  it('counts the ports of sidecars, but not of what has ended when the pod runs', () => {
    const ports = [{ containerPort: 1, hostPort: 8080 }];
    const taken = (restartPolicy?: string) =>
      aPod({ uid: 'other', spec: { initContainers: [{ name: 'init', ports, restartPolicy }] } });
    const spec = withPort({ containerPort: 80, hostPort: 8080 });
    expect(verdict({ spec }, { active: [taken()] })).toBeUndefined();
    expect(verdict({ spec }, { active: [taken('Always')] })?.reason).toBe('NodePorts');
  });

  const localhost = { type: 'Localhost', localhostProfile: 'mine' };
  const noAppArmor = { reason: 'AppArmor', message: 'Cannot enforce AppArmor: AppArmor is not enabled on the host' };
  it.each<{ case: string; sketch: PodSketch; hasAppArmor?: boolean; rejection?: Rejection }>([
    { case: 'the pod', sketch: { spec: { securityContext: { appArmorProfile: localhost } } }, rejection: noAppArmor },
    {
      case: 'a container',
      sketch: {
        spec: { initContainers: [{ name: 'i', securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } }] },
      },
      rejection: noAppArmor,
    },
    {
      case: 'an annotation',
      sketch: { annotations: { 'container.apparmor.security.beta.kubernetes.io/main': 'runtime/default' } },
      rejection: noAppArmor,
    },
    {
      case: 'no user',
      sketch: {
        annotations: { 'container.apparmor.security.beta.kubernetes.io/main': 'unconfined' },
        spec: { securityContext: { appArmorProfile: { type: 'Unconfined' } } },
      },
    },
    {
      case: 'a pod that runs',
      sketch: { phase: 'Running', spec: { securityContext: { appArmorProfile: localhost } } },
    },
    {
      case: 'a pod where there is one',
      sketch: { spec: { securityContext: { appArmorProfile: localhost } } },
      hasAppArmor: true,
    },
    {
      case: 'a pod without saying by which profile',
      sketch: { spec: { securityContext: { appArmorProfile: { type: 'Localhost', localhostProfile: ' ' } } } },
      hasAppArmor: true,
      rejection: { reason: 'AppArmor', message: 'Cannot enforce AppArmor: invalid empty AppArmor profile name: ""' },
    },
  ])('confines by AppArmor: $case', ({ sketch, hasAppArmor = false, rejection }) => {
    expect(verdict(sketch, { hasAppArmor })).toEqual(rejection);
  });

  it('names the first that is wrong in the order of the kubelet', () => {
    const all: Partial<PodSpec> = {
      securityContext: {
        sysctls: [{ name: 'x', value: '1' }],
        supplementalGroupsPolicy: 'Strict',
        appArmorProfile: localhost,
      },
      os: { name: 'windows' },
      containers: [
        { name: 'main', resources: { requests: { cpu: '3' } }, ports: [{ containerPort: 80, hostPort: 80 }] },
      ],
      nodeSelector: { zone: 'a' },
      nodeName: 'node-2',
    };
    const repairs: readonly ((spec: Partial<PodSpec>) => Partial<PodSpec>)[] = [
      (spec) => ({ ...spec, securityContext: { ...spec.securityContext, sysctls: [] } }),
      (spec) => ({ ...spec, os: undefined }),
      (spec) => ({ ...spec, securityContext: { ...spec.securityContext, supplementalGroupsPolicy: undefined } }),
      (spec) => ({ ...spec, containers: [{ name: 'main', ports: [{ containerPort: 80, hostPort: 80 }] }] }),
      (spec) => ({ ...spec, nodeSelector: {} }),
      (spec) => ({ ...spec, nodeName: 'node-1' }),
      (spec) => ({ ...spec, containers: [{ name: 'main' }] }),
      (spec) => ({ ...spec, tolerations: [{ operator: 'Exists' }] }),
      (spec) => ({ ...spec, securityContext: {} }),
    ];
    const active = [aPod({ uid: 'other', spec: withPort({ containerPort: 80, hostPort: 80 }) })];
    const taints = [{ key: 'team', effect: 'NoExecute' }];
    const reasons = [all];
    for (const repair of repairs) reasons.push(repair(reasons.at(-1)!));
    expect(
      reasons.map(
        (spec) => verdict({ source: 'api', spec }, { active, taints, hasSupplementalGroupsPolicy: false })?.reason,
      ),
    ).toEqual([
      'SysctlForbidden',
      'PodOSNotSupported',
      'SupplementalGroupsPolicyNotSupported',
      'OutOfcpu',
      'NodeAffinity',
      'NodeName',
      'NodePorts',
      'TaintToleration',
      'AppArmor',
      undefined,
    ]);
  });
});

it('asks no further than the first that rejects', () => {
  const asked: string[] = [];
  const handler = (name: string, rejection?: Rejection) => () => {
    asked.push(name);
    return rejection;
  };
  const no = { reason: 'No', message: 'no' };
  expect(firstRejection(handler('a'), handler('b', no), handler('c', no))(aPod(), [])).toBe(no);
  expect(asked).toEqual(['a', 'b']);
});

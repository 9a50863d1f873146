import { describe, expect, it } from 'vitest';
import { CreateContainerConfigError } from '../../../src/model/cri/create-container-config-error.js';
import {
  containerSecurityContext,
  type ImageUser,
  namespaceOptions,
  sandboxSecurityContext,
} from '../../../src/model/cri/security-context.js';
import type { Container, Pod, PodSpec } from '../../../src/model/pod/pod.js';
import { aContainer, aNode, aPod } from '../pods.js';

type Context = NonNullable<Container['securityContext']>;
type PodContext = NonNullable<PodSpec['securityContext']>;
const mapping = { hostId: 65_536, containerId: 0, length: 65_536 };

describe('namespaceOptions', () => {
  it.each<[row: string, spec: Partial<PodSpec>, targetId: string | undefined, expected: object]>([
    ['nothing said', {}, undefined, { network: 'POD', ipc: 'POD', pid: 'CONTAINER' }],
    ['host network', { hostNetwork: true }, undefined, { network: 'NODE', ipc: 'POD', pid: 'CONTAINER' }],
    ['host IPC', { hostIPC: true }, undefined, { network: 'POD', ipc: 'NODE', pid: 'CONTAINER' }],
    ['host PID', { hostPID: true }, 'c1', { network: 'POD', ipc: 'POD', pid: 'NODE' }],
    ['shared PID', { shareProcessNamespace: true }, 'c1', { network: 'POD', ipc: 'POD', pid: 'POD' }],
    ['target', {}, 'c1', { network: 'POD', ipc: 'POD', pid: 'TARGET', targetId: 'c1' }],
  ])('%s', (_, spec, targetId, expected) => {
    expect(namespaceOptions({ pod: aPod(spec), targetId })).toEqual({ ...expected, usernsOptions: { mode: 'NODE' } });
  });

  it('maps the users of a pod of its own', () => {
    const { usernsOptions } = namespaceOptions({ pod: aPod({ hostUsers: false }), userNamespace: mapping });
    expect(usernsOptions).toEqual({ mode: 'POD', uids: [mapping], gids: [mapping] });
  });

  it('refuses to leave them unmapped', () => {
    expect(() => namespaceOptions({ pod: aPod({ hostUsers: false }) })).toThrow(
      "can't set `spec.hostUsers: false`, runtime does not support user namespaces",
    );
  });
});

describe('sandboxSecurityContext', () => {
  it('has the default profile with any settings of the pod, and nothing else without a context', () => {
    expect(sandboxSecurityContext(aPod())).toEqual({
      privileged: false,
      seccomp: { profileType: 'RuntimeDefault' },
      namespaceOptions: namespaceOptions({ pod: aPod() }),
    });
  });

  it('copies the context of the pod', () => {
    const securityContext: PodContext = {
      runAsUser: 1000,
      runAsGroup: 0,
      fsGroup: 7,
      supplementalGroups: [8, 9],
      supplementalGroupsPolicy: 'Strict',
      seLinuxOptions: { level: 's0:c1' },
      seccompProfile: { type: 'Unconfined' },
    };
    expect(sandboxSecurityContext(aPod({ securityContext }))).toMatchObject({
      seccomp: { profileType: 'RuntimeDefault' },
      runAsUser: { value: 1000n },
      runAsGroup: { value: 0n },
      supplementalGroups: [7n, 8n, 9n],
      supplementalGroupsPolicy: 'Strict',
      selinuxOptions: { user: '', role: '', type: '', level: 's0:c1' },
    });
  });

  it.each(['containers', 'initContainers', 'ephemeralContainers'])('is privileged if one of %s is', (list) => {
    const privileged = [aContainer('x', { securityContext: { privileged: true } })];
    expect(sandboxSecurityContext(aPod({ [list]: privileged })).privileged).toBe(true);
  });
});

const root: ImageUser = { uid: 0n, username: '' };
const context = (
  own: Context | undefined,
  {
    ofPod,
    imageUser = root,
    pod = aPod({ securityContext: ofPod }),
    node = {},
  }: { ofPod?: PodContext; imageUser?: ImageUser; pod?: Pod; node?: Partial<ReturnType<typeof aNode>> } = {},
) =>
  containerSecurityContext({
    pod,
    container: aContainer('web', { securityContext: own }),
    imageUser,
    node: aNode(node),
  });

describe('containerSecurityContext', () => {
  it('is what a pod without any gets', () => {
    expect(context(undefined)).toMatchObject({
      privileged: false,
      readonlyRootfs: false,
      noNewPrivs: false,
      runAsUser: { value: 0n },
      supplementalGroups: [],
      supplementalGroupsPolicy: 'Merge',
      seccomp: { profileType: 'Unconfined' },
    });
    expect(context(undefined).maskedPaths).toHaveLength(12);
    expect(context(undefined).readonlyPaths).toHaveLength(5);
    expect(context(undefined)).not.toHaveProperty('capabilities');
    expect(context(undefined)).not.toHaveProperty('apparmor');
  });

  it('copies the context of the container', () => {
    const own: Context = {
      privileged: true,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] },
    };
    expect(context(own)).toMatchObject({
      privileged: true,
      readonlyRootfs: true,
      noNewPrivs: true,
      capabilities: { addCapabilities: ['NET_ADMIN'], dropCapabilities: ['ALL'] },
    });
  });

  it('forbids escalation only if asked to', () => {
    expect(context({ allowPrivilegeEscalation: true }).noNewPrivs).toBe(false);
    expect(context({}).noNewPrivs).toBe(false);
  });

  it('shows all of /proc if asked to', () => {
    expect(context({ procMount: 'Unmasked' })).toMatchObject({ maskedPaths: [], readonlyPaths: [] });
  });

  it('masks the thermal throttling of every CPU', () => {
    const path = '/sys/devices/system/cpu/cpu0/thermal_throttle';
    expect(context({}, { node: { thermalThrottlePaths: [path] } }).maskedPaths).toContain(path);
  });

  it.each<[row: string, own: Context, ofPod: PodContext, imageUser: ImageUser, expected: object]>([
    ['the container', { runAsUser: 5 }, { runAsUser: 6 }, root, { runAsUser: { value: 5n } }],
    ['the container, even root', { runAsUser: 0 }, { runAsUser: 6 }, root, { runAsUser: { value: 0n } }],
    ['the pod', {}, { runAsUser: 6 }, root, { runAsUser: { value: 6n } }],
    ['the image by number', {}, {}, { uid: 7n, username: '' }, { runAsUser: { value: 7n } }],
    ['the image by name', {}, {}, { username: 'nobody' }, { runAsUsername: 'nobody' }],
    ['an image that says nothing: root', {}, {}, { username: '' }, { runAsUser: { value: 0n } }],
    ['the group of the pod', {}, { runAsGroup: 3 }, root, { runAsGroup: { value: 3n } }],
    ['the group of the container', { runAsGroup: 2 }, { runAsGroup: 3 }, root, { runAsGroup: { value: 2n } }],
  ])('runs as who %s says', (_, own, ofPod, imageUser, expected) => {
    const { runAsUser, runAsUsername, runAsGroup } = context(own, { ofPod, imageUser });
    expect({ runAsUser, runAsUsername, runAsGroup }).toMatchObject(expected);
    expect([runAsUser, runAsUsername].filter((who) => who !== undefined)).toHaveLength(1);
  });

  describe('runAsNonRoot', () => {
    const where = '(pod: "p_default(uid-1)", container: web)';

    it.each<[row: string, own: Context, ofPod: PodContext, imageUser: ImageUser, message: string]>([
      [
        'runs as root by its own word',
        { runAsNonRoot: true, runAsUser: 0 },
        {},
        root,
        `container's runAsUser breaks non-root policy ${where}`,
      ],
      [
        'runs as root by the word of the pod',
        {},
        { runAsNonRoot: true, runAsUser: 0 },
        root,
        `container's runAsUser breaks non-root policy ${where}`,
      ],
      [
        'image runs as root',
        {},
        { runAsNonRoot: true },
        root,
        `container has runAsNonRoot and image will run as root ${where}`,
      ],
      [
        'image does not say',
        { runAsNonRoot: true },
        {},
        { username: '' },
        `container has runAsNonRoot and image will run as root ${where}`,
      ],
      [
        'image has a name',
        { runAsNonRoot: true },
        {},
        { username: 'daemon' },
        `container has runAsNonRoot and image has non-numeric user (daemon), cannot verify user is non-root ${where}`,
      ],
      [
        'image has an impossible number',
        { runAsNonRoot: true },
        {},
        { uid: 2_147_483_648n, username: '' },
        'invalid user id 2147483648',
      ],
    ])('%s', (_, own, ofPod, imageUser, message) => {
      const run = () => context(own, { ofPod, imageUser });
      expect(run).toThrow(CreateContainerConfigError);
      expect(run).toThrow(message);
    });

    it.each<[row: string, own: Context, ofPod: PodContext, imageUser: ImageUser]>([
      ['another user', { runAsNonRoot: true, runAsUser: 5 }, {}, root],
      ['another user of the image', { runAsNonRoot: true }, {}, { uid: 5n, username: '' }],
      ['the container overrides the pod', { runAsNonRoot: false }, { runAsNonRoot: true }, root],
    ])('is satisfied: %s', (_, own, ofPod, imageUser) => {
      expect(() => context(own, { ofPod, imageUser })).not.toThrow();
    });
  });

  it.each<[own: Context['seccompProfile'], ofPod: Context['seccompProfile'], isDefault: boolean, expected: object]>([
    [{ type: 'RuntimeDefault' }, { type: 'Unconfined' }, false, { profileType: 'RuntimeDefault' }],
    [undefined, { type: 'RuntimeDefault' }, false, { profileType: 'RuntimeDefault' }],
    [undefined, undefined, true, { profileType: 'RuntimeDefault' }],
    [undefined, undefined, false, { profileType: 'Unconfined' }],
    [{ type: 'Unconfined' }, undefined, true, { profileType: 'Unconfined' }],
    [
      { type: 'Localhost', localhostProfile: 'a.json' },
      undefined,
      false,
      { profileType: 'Localhost', localhostRef: '/var/lib/kubelet/seccomp/a.json' },
    ],
  ])('seccomp: container %j, pod %j, default %s', (own, ofPod, seccompDefault, expected) => {
    const result = context({ seccompProfile: own }, { ofPod: { seccompProfile: ofPod }, node: { seccompDefault } });
    expect(result.seccomp).toEqual(expected);
  });

  it('refuses a local seccomp profile without a name', () => {
    expect(() => context({ seccompProfile: { type: 'Localhost' } })).toThrow(
      'localhostProfile must be set if seccompProfile type is Localhost',
    );
  });

  it.each(['Foo', ''])('refuses a seccomp profile of the unknown type %j', (type) => {
    expect(() => context({ seccompProfile: { type } })).toThrow(`unknown seccompProfile type ${JSON.stringify(type)}`);
  });

  it.each<[row: string, own: Context, ofPod: PodContext, annotation: string | undefined, expected: string | undefined]>(
    [
      ['nothing', {}, {}, undefined, undefined],
      ['the container', { appArmorProfile: { type: 'RuntimeDefault' } }, {}, 'unconfined', 'runtime/default'],
      ['the annotation', {}, { appArmorProfile: { type: 'RuntimeDefault' } }, 'localhost/x', 'localhost/x'],
      ['the pod', {}, { appArmorProfile: { type: 'Unconfined' } }, undefined, 'unconfined'],
      ['a local one', { appArmorProfile: { type: 'Localhost', localhostProfile: 'y' } }, {}, undefined, 'localhost/y'],
    ],
  )('AppArmor as %s says', (_, own, securityContext, annotation, expected) => {
    const annotations = annotation ? { 'container.apparmor.security.beta.kubernetes.io/web': annotation } : undefined;
    expect(context(own, { pod: aPod({ securityContext }, { annotations }) }).apparmorProfile).toBe(expected);
  });

  it('refuses an unknown policy for groups', () => {
    expect(() => context({}, { ofPod: { supplementalGroupsPolicy: 'Some' } })).toThrow(
      'unsupported supplementalGroupsPolicy: Some',
    );
  });
});

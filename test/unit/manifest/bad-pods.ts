import { withBoth, withContainer, withMetadata, withSpec } from './marked.js';

/** Field, what is said of it, and a manifest with a mark where it is said. */
export type Row = readonly [field: string, message: string, manifest: string];

const C = 'spec.containers[0]';
const VOLUME = 'volumes: [{name: v, emptyDir: {}}]';

export const METADATA: readonly Row[] = [
  ['metadata.name', 'is "Web"', withMetadata('name: ▸Web')],
  ['metadata.name', 'is "a_b"', withMetadata('name: ▸a_b')],
  ['metadata.name', 'is ".a"', withMetadata('name: ▸.a')],
  ['metadata.name', 'is "a..b"', withMetadata('name: ▸a..b')],
  ['metadata.name', 'is 254 characters long', withMetadata(`name: ▸${'a'.repeat(254)}`)],
  ['metadata.namespace', 'is "a.b"', withMetadata('name: p\nnamespace: ▸a.b')],
  ['metadata.uid', 'is "../x"', withMetadata('name: p\nuid: ▸../x')],
  ['metadata.labels["a/b/c"]', 'is not a valid label key', withMetadata('name: p\nlabels: {▸a/b/c: x}')],
  ['metadata.labels["-x"]', 'is not a valid label key', withMetadata('name: p\nlabels: {▸-x: x}')],
  ['metadata.labels.app', 'is "a b"', withMetadata('name: p\nlabels: {app: ▸a b}')],
  ['metadata.labels.app', 'is 64 characters long', withMetadata(`name: p\nlabels: {app: ▸${'a'.repeat(64)}}`)],
  ['metadata.annotations["a b"]', 'is not a valid annotation key', withMetadata('name: p\nannotations: {▸a b: x}')],
  ['metadata.annotations', 'hold 262145 bytes', withMetadata(`name: p\nannotations: ▸{a: ${'x'.repeat(262_144)}}`)],
];

export const SPEC: readonly Row[] = [
  ['spec.restartPolicy', 'is "Sometimes"', withSpec('restartPolicy: ▸Sometimes')],
  ['spec.dnsPolicy', 'is "clusterFirst"', withSpec('dnsPolicy: ▸clusterFirst')],
  ['spec.dnsConfig.nameservers', 'is missing', withSpec('dnsPolicy: None\ndnsConfig: ▸{searches: [a]}')],
  [
    'spec.dnsConfig.nameservers',
    'has 4 entries',
    withSpec('dnsConfig: {nameservers: ▸[1.1.1.1, 1.1.1.2, 1.1.1.3, "::1"]}'),
  ],
  ['spec.dnsConfig.nameservers[0]', 'is "dns"', withSpec('dnsConfig: {nameservers: [▸dns]}')],
  ['spec.dnsConfig.nameservers[0]', 'is "1.2.3"', withSpec('dnsConfig: {nameservers: [▸"1.2.3"]}')],
  ['spec.dnsConfig.nameservers[0]', 'is "1::2::3"', withSpec('dnsConfig: {nameservers: [▸"1::2::3"]}')],
  [
    'spec.dnsConfig.searches',
    'has 33 entries',
    withSpec(`dnsConfig: {searches: ▸[${Array.from({ length: 33 }, (_, i) => `d${i}`).join()}]}`),
  ],
  ['spec.dnsConfig.searches[1]', 'is "b!"', withSpec('dnsConfig: {searches: [a.b., ▸b!]}')],
  ['spec.dnsConfig.options[0].name', 'is missing', withSpec('dnsConfig: {options: [▸{value: "2"}]}')],
  ['spec.terminationGracePeriodSeconds', 'is -1', withSpec('terminationGracePeriodSeconds: ▸-1')],
  ['spec.activeDeadlineSeconds', 'is 0', withSpec('activeDeadlineSeconds: ▸0')],
  ['spec.hostname', 'is "a.b"', withSpec('hostname: ▸a.b')],
  ['spec.subdomain', 'is "A"', withSpec('subdomain: ▸A')],
  ['spec.hostnameOverride', 'is 65 characters long', withSpec(`hostnameOverride: ▸${'a'.repeat(65)}`)],
  ['spec.hostnameOverride', 'is set beside hostNetwork', withSpec('hostNetwork: true\nhostnameOverride: ▸a')],
  ['spec.hostAliases[0].ip', 'is "localhost"', withSpec('hostAliases: [{ip: ▸localhost, hostnames: [a]}]')],
  ['spec.hostAliases[0].hostnames[1]', 'is "b_c"', withSpec('hostAliases: [{ip: "::1", hostnames: [a, ▸b_c]}]')],
  ['spec.shareProcessNamespace', 'beside hostPID', withSpec('hostPID: true\nshareProcessNamespace: ▸true')],
  ['spec.hostNetwork', 'beside hostUsers', withSpec('hostUsers: false\nhostNetwork: ▸true')],
  ['spec.hostIPC', 'beside hostUsers', withSpec('hostUsers: false\nhostIPC: ▸true')],
  ['spec.os.name', 'is "Linux"', withSpec('os: {name: ▸Linux}')],
  ['spec.runtimeClassName', 'is "K_V"', withSpec('runtimeClassName: ▸K_V')],
  ['spec.readinessGates[0].conditionType', 'is "a b"', withSpec('readinessGates: [{conditionType: ▸a b}]')],
  ['spec.imagePullSecrets[0].name', 'is missing', withSpec('imagePullSecrets: [▸{}]')],
  ['spec.ephemeralContainers', 'cannot be set', withSpec('ephemeralContainers: ▸[{name: e, image: i}]')],
  ['spec.tolerations[0].operator', 'does not go with an empty key', withSpec('tolerations: [▸{effect: NoExecute}]')],
  ['spec.tolerations[0].operator', 'is "Exist"', withSpec('tolerations: [{key: a, operator: ▸Exist}]')],
  ['spec.tolerations[0].value', 'is "x"', withSpec('tolerations: [{key: a, operator: Exists, value: ▸x}]')],
  ['spec.tolerations[0].effect', 'is "NoExec"', withSpec('tolerations: [{operator: Exists, effect: ▸NoExec}]')],
  [
    'spec.tolerations[0].tolerationSeconds',
    'only goes with',
    withSpec('tolerations: [{operator: Exists, tolerationSeconds: ▸5}]'),
  ],
  ['spec.tolerations[0].key', 'is "a b"', withSpec('tolerations: [{key: ▸a b, operator: Exists}]')],
  ['spec.securityContext.runAsUser', 'is -1', withSpec('securityContext: {runAsUser: ▸-1}')],
  ['spec.securityContext.fsGroup', 'is 2147483648', withSpec('securityContext: {fsGroup: ▸2147483648}')],
  ['spec.securityContext.supplementalGroups[1]', 'is -5', withSpec('securityContext: {supplementalGroups: [1, ▸-5]}')],
  [
    'spec.securityContext.fsGroupChangePolicy',
    'is "Never"',
    withSpec('securityContext: {fsGroupChangePolicy: ▸Never}'),
  ],
  [
    'spec.securityContext.seccompProfile.localhostProfile',
    'is missing',
    withSpec('securityContext: {seccompProfile: ▸{type: Localhost}}'),
  ],
  [
    'spec.securityContext.seccompProfile.localhostProfile',
    'absolute path',
    withSpec('securityContext: {seccompProfile: {type: Localhost, localhostProfile: ▸/a}}'),
  ],
  [
    'spec.securityContext.appArmorProfile.type',
    'is "runtime/default"',
    withSpec('securityContext: {appArmorProfile: {type: ▸runtime/default}}'),
  ],
  [
    'spec.securityContext.sysctls[1].name',
    'a second time',
    withSpec('securityContext: {sysctls: [{name: net.a, value: "1"}, {name: ▸net.a, value: "1"}]}'),
  ],
  [
    'spec.securityContext.sysctls[0].name',
    'is "Net"',
    withSpec('securityContext: {sysctls: [{name: ▸Net, value: "1"}]}'),
  ],
  [
    'spec.securityContext.sysctls[0].name',
    'of the node',
    withSpec('hostNetwork: true\nsecurityContext: {sysctls: [{name: ▸net.core.somaxconn, value: "1"}]}'),
  ],
  ['spec.overhead.cpu', 'is -1', withSpec('overhead: {cpu: ▸-1}')],
  [
    'spec.resources.requests.cpu',
    'at least 2',
    withSpec('resources: {requests: {cpu: ▸1}}').replace('image: i', 'image: i, resources: {requests: {cpu: 2}}'),
  ],
  [
    'spec.resources.limits["example.com/gpu"]',
    'not a resource that can be asked for',
    withSpec('resources: {limits: {▸example.com/gpu: 1}}'),
  ],
  ['spec.containers', 'is empty', withSpec('').replace('[{name: c, image: i}]', '▸[]')],
];

export const VOLUMES: readonly Row[] = [
  ['spec.volumes[0].name', 'is "A"', withSpec('volumes: [{name: ▸A}]')],
  ['spec.volumes[1].name', 'a second time', withSpec('volumes: [{name: a}, {name: ▸a}]')],
  ['spec.volumes[0].hostPath', 'second kind', withSpec('volumes: [{name: a, emptyDir: {}, ▸hostPath: {path: /a}}]')],
  ['spec.volumes[0].hostPath.path', 'is empty', withSpec('volumes: [{name: a, hostPath: {path: ▸""}}]')],
  ['spec.volumes[0].hostPath.path', 'without ".."', withSpec('volumes: [{name: a, hostPath: {path: ▸/a/../b}}]')],
  ['spec.volumes[0].hostPath.type', 'is "Dir"', withSpec('volumes: [{name: a, hostPath: {path: /a, type: ▸Dir}}]')],
  ['spec.volumes[0].emptyDir.medium', 'is "RAM"', withSpec('volumes: [{name: a, emptyDir: {medium: ▸RAM}}]')],
  ['spec.volumes[0].emptyDir.sizeLimit', 'is -1Mi', withSpec('volumes: [{name: a, emptyDir: {sizeLimit: ▸-1Mi}}]')],
  ['spec.volumes[0].secret.secretName', 'is missing', withSpec('volumes: [{name: a, secret: ▸{}}]')],
  ['spec.volumes[0].configMap.name', 'is missing', withSpec('volumes: [{name: a, configMap: ▸{optional: true}}]')],
  [
    'spec.volumes[0].configMap.defaultMode',
    'is 512',
    withSpec('volumes: [{name: a, configMap: {name: a, defaultMode: ▸01000}}]'),
  ],
  [
    'spec.volumes[0].configMap.items[0].path',
    'absolute path',
    withSpec('volumes: [{name: a, configMap: {name: a, items: [{key: k, path: ▸/p}]}}]'),
  ],
  [
    'spec.volumes[0].configMap.items[0].mode',
    'is -1',
    withSpec('volumes: [{name: a, configMap: {name: a, items: [{key: k, path: p, mode: ▸-1}]}}]'),
  ],
  [
    'spec.volumes[0].downwardAPI.items[0]',
    'has no source',
    withSpec('volumes: [{name: a, downwardAPI: {items: [▸{path: p}]}}]'),
  ],
  [
    'spec.volumes[0].downwardAPI.items[0].fieldRef.fieldPath',
    'is "status.podIP"',
    withSpec('volumes: [{name: a, downwardAPI: {items: [{path: p, fieldRef: {fieldPath: ▸status.podIP}}]}}]'),
  ],
  [
    'spec.volumes[0].downwardAPI.items[0].resourceFieldRef.containerName',
    'is missing',
    withSpec('volumes: [{name: a, downwardAPI: {items: [{path: p, resourceFieldRef: ▸{resource: limits.cpu}}]}}]'),
  ],
  [
    'spec.volumes[0].downwardAPI.items[0].path',
    'does not begin with',
    withSpec('volumes: [{name: a, downwardAPI: {items: [{path: ▸..p, fieldRef: {fieldPath: metadata.name}}]}}]'),
  ],
  [
    'spec.volumes[0].projected.sources[0]',
    'names no source',
    withSpec('volumes: [{name: a, projected: {sources: [▸{}]}}]'),
  ],
  [
    'spec.volumes[0].projected.sources[0].secret',
    'second kind',
    withSpec('volumes: [{name: a, projected: {sources: [{configMap: {name: a}, ▸secret: {name: a}}]}}]'),
  ],
  [
    'spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds',
    'is 60',
    withSpec('volumes: [{name: a, projected: {sources: [{serviceAccountToken: {path: t, expirationSeconds: ▸60}}]}}]'),
  ],
  [
    'spec.volumes[0].projected.sources[1].configMap.items[0].path',
    'a second time',
    withSpec(
      'volumes: [{name: a, projected: {sources: [{secret: {name: a, items: [{key: k, path: p}]}}, {configMap: {name: a, items: [{key: k, path: ▸p}]}}]}}]',
    ),
  ],
  ['spec.volumes[0].image.reference', 'is missing', withSpec('volumes: [{name: a, image: ▸{pullPolicy: Always}}]')],
  ['spec.volumes[0].nfs.path', 'absolute path', withSpec('volumes: [{name: a, nfs: {server: s, path: ▸p}}]')],
  [`${C}.volumeMounts[0].name`, 'the pod has none', withContainer('volumeMounts: [{name: ▸v, mountPath: /a}]')],
  [
    `${C}.volumeMounts[0].name`,
    'the name of a volume: v',
    withBoth('volumeMounts: [{name: ▸w, mountPath: /a}]', VOLUME),
  ],
  [
    `${C}.volumeMounts[1].mountPath`,
    'a second time',
    withBoth('volumeMounts: [{name: v, mountPath: /a}, {name: v, mountPath: ▸/a}]', VOLUME),
  ],
  [
    `${C}.volumeMounts[0].subPath`,
    'without ".."',
    withBoth('volumeMounts: [{name: v, mountPath: /a, subPath: ▸../b}]', VOLUME),
  ],
  [
    `${C}.volumeMounts[0].subPathExpr`,
    'beside subPath',
    withBoth('volumeMounts: [{name: v, mountPath: /a, subPath: b, subPathExpr: ▸c}]', VOLUME),
  ],
  [
    `${C}.volumeMounts[0].mountPropagation`,
    'is "Both"',
    withBoth('volumeMounts: [{name: v, mountPath: /a, mountPropagation: ▸Both}]', VOLUME),
  ],
  [
    `${C}.volumeMounts[0].mountPropagation`,
    'is Bidirectional',
    withBoth('volumeMounts: [{name: v, mountPath: /a, mountPropagation: ▸Bidirectional}]', VOLUME),
  ],
  [
    `${C}.volumeMounts[0].recursiveReadOnly`,
    'without readOnly',
    withBoth('volumeMounts: [{name: v, mountPath: /a, recursiveReadOnly: ▸Enabled}]', VOLUME),
  ],
  [
    `${C}.volumeDevices[0].name`,
    'a persistentVolumeClaim or',
    withBoth('volumeDevices: [{name: ▸v, devicePath: /dev/a}]', VOLUME),
  ],
];

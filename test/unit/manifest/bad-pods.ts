import { withBoth, withContainer, withMetadata, withSpec } from './marked.js';

/** Field, what is said of it, and a manifest with a mark where it is said. */
export type Row = readonly [field: string, message: string, manifest: string];

const C = 'spec.containers[0]';

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
  ['metadata.generateName', 'is "A"', withMetadata('name: p\ngenerateName: ▸A')],
  ['metadata.generation', 'is -1', withMetadata('name: p\ngeneration: ▸-1')],
  ['metadata.finalizers[0]', 'is "x y"', withMetadata('name: p\nfinalizers: [▸x y]')],
  ['metadata.finalizers[1]', 'is "a"', withMetadata('name: p\nfinalizers: [example.com/a, ▸a]')],
  ['metadata.finalizers', 'has both', withMetadata('name: p\nfinalizers: ▸[orphan, foregroundDeletion]')],
  [
    'metadata.ownerReferences[0].uid',
    'is empty',
    withMetadata('name: p\nownerReferences: [{apiVersion: v1, kind: A, name: a, uid: ▸""}]'),
  ],
  [
    'metadata.ownerReferences[0].kind',
    'is Event',
    withMetadata('name: p\nownerReferences: [{apiVersion: v1, kind: ▸Event, name: a, uid: b}]'),
  ],
  [
    'metadata.ownerReferences[1].controller',
    'is true a second time',
    withMetadata(
      'name: p\nownerReferences: [{apiVersion: v1, kind: A, name: a, uid: b, controller: true}, {apiVersion: v1, kind: A, name: b, uid: c, controller: ▸true}]',
    ),
  ],
  ['metadata.annotations', 'hold 262145 bytes', withMetadata(`name: p\nannotations: ▸{a: ${'x'.repeat(262_144)}}`)],
];

const POD_ANNOTATIONS = 'metadata: {name: p, annotations: ';
const annotated = (annotations: string, spec = 'containers: [{name: c, image: i}]') =>
  `apiVersion: v1\nkind: Pod\n${POD_ANNOTATIONS}${annotations}}\nspec: {${spec}}\n`;
const SECCOMP = 'container.seccomp.security.alpha.kubernetes.io/c';
const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io';
const annotation = (key: string) => `metadata.annotations[${JSON.stringify(key)}]`;
const withProfile = (field: string, profile: string) =>
  `containers: [{name: c, image: i, securityContext: {${field}: ${profile}}}]`;

export const ANNOTATIONS: readonly Row[] = [
  [
    annotation('controller.kubernetes.io/pod-deletion-cost'),
    'is "007"',
    annotated('{controller.kubernetes.io/pod-deletion-cost: ▸"007"}'),
  ],
  [annotation(SECCOMP), 'is "default"', annotated(`{${SECCOMP}: ▸default}`)],
  [annotation(SECCOMP), 'without ".."', annotated(`{${SECCOMP}: ▸localhost/../x}`)],
  [annotation(`${APP_ARMOR}/x`), 'names no container', annotated(`{▸${APP_ARMOR}/x: unconfined}`)],
  [annotation(`${APP_ARMOR}/c`), 'is "strict"', annotated(`{${APP_ARMOR}/c: ▸strict}`)],
  [
    'spec.containers[0].securityContext.seccompProfile.type',
    'the same as the annotation',
    annotated(`{${SECCOMP}: unconfined}`, withProfile('seccompProfile', '{type: ▸RuntimeDefault}')),
  ],
  [
    'spec.containers[0].securityContext.appArmorProfile.localhostProfile',
    'the same as the annotation',
    annotated(
      `{${APP_ARMOR}/c: localhost/a}`,
      withProfile('appArmorProfile', '{type: Localhost, localhostProfile: ▸b}'),
    ),
  ],
];

const nodeTerms = (terms: string) =>
  withSpec(`affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ${terms}}}}`);
const NODE_TERMS = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
const podTerm = (term: string) =>
  withSpec(`affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [${term}]}}`);
const POD_TERM = 'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]';
const spread = (constraint: string) => withSpec(`topologySpreadConstraints: [${constraint}]`);
const SPREAD = 'spec.topologySpreadConstraints[0]';

export const SCHEDULING: readonly Row[] = [
  ['spec.nodeSelector["a b"]', 'is not a valid label key', withSpec('nodeSelector: {▸a b: x}')],
  ['spec.nodeSelector.a', 'is "b c"', withSpec('nodeSelector: {a: ▸b c}')],
  ['spec.priorityClassName', 'is "High"', withSpec('priorityClassName: ▸High')],
  ['spec.schedulingGates', 'on its node already', withSpec('schedulingGates: ▸[{name: a}]')],
  ['spec.schedulingGroup.podGroupName', 'is missing', withSpec('schedulingGroup: ▸{}')],
  ['spec.tolerations[0].operator', 'is "Lt"', withSpec('tolerations: [{key: a, operator: ▸Lt, value: "1"}]')],
  [NODE_TERMS, 'is empty', nodeTerms('▸[]')],
  [
    `${NODE_TERMS}[0].matchExpressions[0].operator`,
    'is "Is"',
    nodeTerms('[{matchExpressions: [{key: a, operator: ▸Is}]}]'),
  ],
  [
    `${NODE_TERMS}[0].matchExpressions[0].values`,
    'is missing',
    nodeTerms('[{matchExpressions: [▸{key: a, operator: In}]}]'),
  ],
  [
    `${NODE_TERMS}[0].matchExpressions[0].values`,
    'is set beside Exists',
    nodeTerms('[{matchExpressions: [{key: a, operator: Exists, values: ▸[b]}]}]'),
  ],
  [
    `${NODE_TERMS}[0].matchFields[0].key`,
    'is "metadata.uid"',
    nodeTerms('[{matchFields: [{key: ▸metadata.uid, operator: In, values: [a]}]}]'),
  ],
  [`${POD_TERM}.topologyKey`, 'is empty', podTerm('{topologyKey: ▸""}')],
  [`${POD_TERM}.namespaces[0]`, 'is "a.b"', podTerm('{topologyKey: a, namespaces: [▸a.b]}')],
  [`${POD_TERM}.matchLabelKeys`, 'is set without labelSelector', podTerm('{topologyKey: a, matchLabelKeys: ▸[b]}')],
  [
    `${POD_TERM}.labelSelector.matchExpressions[0].values`,
    'is missing',
    podTerm('{topologyKey: a, labelSelector: {matchExpressions: [▸{key: b, operator: NotIn}]}}'),
  ],
  [
    'spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight',
    'is 0',
    withSpec(
      'affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: ▸0, podAffinityTerm: {topologyKey: a}}]}}',
    ),
  ],
  [`${SPREAD}.maxSkew`, 'is 0', spread('{maxSkew: ▸0, topologyKey: a, whenUnsatisfiable: DoNotSchedule}')],
  [`${SPREAD}.whenUnsatisfiable`, 'is "Never"', spread('{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ▸Never}')],
  [
    `${SPREAD}.minDomains`,
    'is set beside',
    spread('{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway, minDomains: ▸2}'),
  ],
  [
    SPREAD,
    'a second time',
    spread(
      '▸{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}, {maxSkew: 2, topologyKey: a, whenUnsatisfiable: DoNotSchedule}',
    ),
  ],
];

export const OS: readonly Row[] = [
  [
    'spec.containers[0].securityContext.windowsOptions.gmsaCredentialSpecName',
    'is "a_b"',
    withContainer('securityContext: {windowsOptions: {gmsaCredentialSpecName: ▸a_b}}'),
  ],
  [
    'spec.containers[0].securityContext.windowsOptions.gmsaCredentialSpec',
    'has 0 bytes',
    withContainer('securityContext: {windowsOptions: {gmsaCredentialSpec: ▸""}}'),
  ],
  [
    'spec.containers[0].securityContext.windowsOptions.runAsUserName',
    'is ""',
    withContainer('securityContext: {windowsOptions: {runAsUserName: ▸""}}'),
  ],
  [
    'spec.containers[0].securityContext.windowsOptions.runAsUserName',
    'is "a@b"',
    withContainer('securityContext: {windowsOptions: {runAsUserName: ▸a@b}}'),
  ],
  [
    'spec.containers[0].securityContext.windowsOptions.runAsUserName',
    'is ".."',
    withContainer('securityContext: {windowsOptions: {runAsUserName: ▸..}}'),
  ],
  [
    'spec.containers[0].securityContext.windowsOptions.runAsUserName',
    'is "a\\\\b\\\\c"',
    withContainer('securityContext: {windowsOptions: {runAsUserName: ▸a\\b\\c}}'),
  ],
  [
    'spec.containers[0].securityContext.windowsOptions.runAsUserName',
    'is ".x\\\\b"',
    withContainer('securityContext: {windowsOptions: {runAsUserName: ▸.x\\b}}'),
  ],
  [
    'spec.securityContext.windowsOptions.runAsUserName',
    'is "a|b"',
    withSpec('securityContext: {windowsOptions: {runAsUserName: ▸a|b}}'),
  ],
  [
    'spec.securityContext.windowsOptions',
    'does not go with spec.os.name linux',
    withSpec('os: {name: linux}\nsecurityContext: {▸windowsOptions: {}}'),
  ],
  ['spec.hostPID', 'does not go with spec.os.name windows', withSpec('os: {name: windows}\n▸hostPID: true')],
  ['spec.hostIPC', 'does not go with spec.os.name windows', withSpec('os: {name: windows}\n▸hostIPC: true')],
  ['spec.hostUsers', 'does not go with spec.os.name windows', withSpec('os: {name: windows}\n▸hostUsers: true')],
  [
    'spec.shareProcessNamespace',
    'does not go with spec.os.name windows',
    withSpec('os: {name: windows}\n▸shareProcessNamespace: false'),
  ],
  ['spec.resources', 'does not go with spec.os.name windows', withSpec('os: {name: windows}\n▸resources: {}')],
  [
    `${C}.securityContext.windowsOptions.hostProcess`,
    'is false (expected true, the value of the pod)',
    withBoth(
      'securityContext: {windowsOptions: {hostProcess: ▸false}}',
      'hostNetwork: true\nsecurityContext: {windowsOptions: {hostProcess: true}}',
    ),
  ],
  [
    'spec',
    'has hostProcess containers beside others',
    withBoth(
      'securityContext: {windowsOptions: {hostProcess: true}}',
      'hostNetwork: true\ninitContainers: [{name: a, image: i}]',
    ).replace('spec:\n  containers', 'spec:\n  ▸containers'),
  ],
  [
    `${C}.securityContext.privileged`,
    'does not go with spec.os.name windows',
    withBoth('securityContext: {▸privileged: true}', 'os: {name: windows}'),
  ],
  [
    'spec.hostNetwork',
    'is not true',
    withSpec('securityContext: {windowsOptions: {hostProcess: true}}\nhostNetwork: ▸false'),
  ],
];

export const SPEC: readonly Row[] = [
  ['spec.hostnameOverride', 'is ""', withSpec('hostnameOverride: ▸""')],
  ['spec.overhead', 'requests only huge pages', withSpec('overhead: ▸{hugepages-2Mi: 4Mi}')],
  ['spec.resources.claims', 'cannot be set for the pod as a whole', withSpec('resources: {▸claims: []}')],
  [
    'spec.securityContext.seLinuxChangePolicy',
    'is "MountOption"',
    withSpec('securityContext: {seLinuxChangePolicy: ▸MountOption}'),
  ],
  [
    'spec.securityContext.appArmorProfile.localhostProfile',
    'only goes with type Localhost',
    withSpec('securityContext: {appArmorProfile: {type: Unconfined, localhostProfile: ▸""}}'),
  ],
  [
    'spec.securityContext.seccompProfile.localhostProfile',
    'only goes with type Localhost',
    withSpec('securityContext: {seccompProfile: {type: RuntimeDefault, localhostProfile: ▸""}}'),
  ],
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
  ['spec.dnsConfig.searches[0]', 'is "_"', withSpec('dnsConfig: {searches: [▸_]}')],
  ['spec.dnsConfig.options[0].name', 'is missing', withSpec('dnsConfig: {options: [▸{value: "2"}]}')],
  ['spec.activeDeadlineSeconds', 'is 0', withSpec('activeDeadlineSeconds: ▸0')],
  ['spec.hostname', 'is "a.b"', withSpec('hostname: ▸a.b')],
  ['spec.subdomain', 'is "A"', withSpec('subdomain: ▸A')],
  ['spec.hostnameOverride', 'is 65 characters long', withSpec(`hostnameOverride: ▸${'a'.repeat(65)}`)],
  ['spec.hostnameOverride', 'is set beside hostNetwork', withSpec('hostNetwork: true\nhostnameOverride: ▸a')],
  [
    'spec.hostnameOverride',
    'is set beside setHostnameAsFQDN',
    withSpec('setHostnameAsFQDN: true\nhostnameOverride: ▸a'),
  ],
  [
    'spec.dnsConfig.searches',
    'is too long (expected at most 2048 characters in all)',
    withSpec(`dnsConfig: {searches: ▸[${Array.from({ length: 11 }, (_, i) => `${i}.${'a.'.repeat(95)}b`).join()}]}`),
  ],
  ['spec.hostAliases[0].ip', 'is "localhost"', withSpec('hostAliases: [{ip: ▸localhost, hostnames: [a]}]')],
  ['spec.hostAliases[0].hostnames[1]', 'is "b_c"', withSpec('hostAliases: [{ip: "::1", hostnames: [a, ▸b_c]}]')],
  ['spec.shareProcessNamespace', 'beside hostPID', withSpec('hostPID: true\nshareProcessNamespace: ▸true')],
  ['spec.hostNetwork', 'beside hostUsers', withSpec('hostUsers: false\nhostNetwork: ▸true')],
  ['spec.hostIPC', 'beside hostUsers', withSpec('hostUsers: false\nhostIPC: ▸true')],
  ['spec.overhead.disk', 'is not a resource', withSpec('overhead: {▸disk: 1}')],
  ['spec.os.name', 'is "Linux"', withSpec('os: {name: ▸Linux}')],
  ['spec.runtimeClassName', 'is "K_V"', withSpec('runtimeClassName: ▸K_V')],
  ['spec.readinessGates[0].conditionType', 'is "a b"', withSpec('readinessGates: [{conditionType: ▸a b}]')],
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
    'not a resource that a container or pod can request',
    withSpec('resources: {limits: {▸example.com/gpu: 1}}'),
  ],
  ['spec.containers', 'is empty', withSpec('').replace('[{name: c, image: i}]', '▸[]')],
];

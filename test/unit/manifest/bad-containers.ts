import type { Row } from './bad-pods.js';
import { withBoth, withContainer, withInit, withSpec } from './marked.js';

const C = 'spec.containers[0]';
const I = 'spec.initContainers[0]';

export const CONTAINERS: readonly Row[] = [
  [`${C}.name`, 'is "C_1"', withSpec('').replace('name: c', 'name: ▸C_1')],
  [`${C}.image`, 'is missing', withSpec('').replace('{name: c, image: i}', '▸{name: c}')],
  [`${C}.image`, 'begins or ends with a space', withSpec('').replace('image: i', 'image: ▸"i "')],
  [
    `${C}.name`,
    'a second time',
    withInit('command: [x]').replace('name: x', 'name: c').replace('[{name: c', '[{name: ▸c'),
  ],
  [`${C}.imagePullPolicy`, 'is "always"', withContainer('imagePullPolicy: ▸always')],
  [`${C}.terminationMessagePolicy`, 'is "Log"', withContainer('terminationMessagePolicy: ▸Log')],
  [`${C}.restartPolicy`, 'is "Maybe"', withContainer('restartPolicy: ▸Maybe')],
  [
    `${C}.restartPolicy`,
    'is missing',
    withContainer('restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [1]}}]').replace(
      '- name: c',
      '- ▸name: c',
    ),
  ],
  [
    `${C}.restartPolicyRules[0].action`,
    'is "Stop"',
    withContainer(
      'restartPolicy: Never\nrestartPolicyRules: [{action: ▸Stop, exitCodes: {operator: In, values: [1]}}]',
    ),
  ],
  [
    `${C}.restartPolicyRules[0].exitCodes`,
    'is missing',
    withContainer('restartPolicy: Never\nrestartPolicyRules: [▸{action: Restart}]'),
  ],
  [
    `${C}.restartPolicyRules[0].exitCodes.operator`,
    'is "Not"',
    withContainer(
      'restartPolicy: Never\nrestartPolicyRules: [{action: Restart, exitCodes: {operator: ▸Not, values: [1]}}]',
    ),
  ],
  [
    `${C}.resizePolicy[0].resourceName`,
    'is "disk"',
    withContainer('resizePolicy: [{resourceName: ▸disk, restartPolicy: NotRequired}]'),
  ],
  [
    `${C}.resizePolicy[1].resourceName`,
    'a second time',
    withContainer(
      'resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}, {resourceName: ▸cpu, restartPolicy: NotRequired}]',
    ),
  ],
  [
    'spec.initContainers[0].resizePolicy',
    'cannot be set on an init container',
    withInit('▸resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]'),
  ],
  [
    `${C}.resizePolicy[0].restartPolicy`,
    'is RestartContainer beside restartPolicy Never of the pod',
    withBoth('resizePolicy: [{resourceName: cpu, restartPolicy: ▸RestartContainer}]', 'restartPolicy: Never'),
  ],
  [
    `${C}.restartPolicyRules[0].exitCodes.values`,
    'has 256 entries',
    withContainer(
      `restartPolicy: Never\nrestartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: ▸[${Array.from({ length: 256 }, (_, code) => code).join()}]}}]`,
    ),
  ],
  [
    'spec.initContainers[0].ports[1].hostPort',
    'a second time',
    withInit('ports: [{containerPort: 1, hostPort: 9}, {containerPort: 2, hostPort: ▸9}]'),
  ],
  [
    `${C}.resources.limits.hugepages-2Mi`,
    'is 3Mi',
    withContainer('resources: {limits: {memory: 1Gi, hugepages-2Mi: ▸3Mi}}'),
  ],
  [
    `${C}.securityContext.appArmorProfile.localhostProfile`,
    'begins or ends with a space',
    withContainer('securityContext: {appArmorProfile: {type: Localhost, localhostProfile: ▸" a"}}'),
  ],
  [
    `${C}.securityContext.appArmorProfile.localhostProfile`,
    'is too long (expected at most 4095 bytes)',
    withContainer(`securityContext: {appArmorProfile: {type: Localhost, localhostProfile: ▸${'ä'.repeat(2048)}}}`),
  ],
  [
    `${C}.restartPolicyRules`,
    'has 21 entries',
    withContainer(
      `restartPolicy: Never\nrestartPolicyRules: ▸[${Array(21).fill('{action: Restart, exitCodes: {operator: In, values: [1]}}').join(', ')}]`,
    ),
  ],
  [`${C}.ports[0].containerPort`, 'is 0', withContainer('ports: [{containerPort: ▸0}]')],
  [`${C}.ports[0].containerPort`, 'is 65536', withContainer('ports: [{containerPort: ▸65536}]')],
  [`${C}.ports[0].hostPort`, 'is 70000', withContainer('ports: [{containerPort: 80, hostPort: ▸70000}]')],
  [`${C}.ports[0].protocol`, 'is "tcp"', withContainer('ports: [{containerPort: 80, protocol: ▸tcp}]')],
  [`${C}.ports[0].name`, 'is "80"', withContainer('ports: [{containerPort: 80, name: ▸"80"}]')],
  [`${C}.ports[0].name`, 'is "a--b"', withContainer('ports: [{containerPort: 80, name: ▸a--b}]')],
  [
    `${C}.ports[0].name`,
    'is 16 characters long',
    withContainer('ports: [{containerPort: 80, name: ▸abcdefghijklmnop}]'),
  ],
  [
    `${C}.ports[1].name`,
    'a second time',
    withContainer('ports: [{containerPort: 80, name: w}, {containerPort: 81, name: ▸w}]'),
  ],
  [`${C}.ports[0].hostIP`, 'is "host"', withContainer('ports: [{containerPort: 80, hostIP: ▸host}]')],
  [
    `${C}.ports[1].hostPort`,
    'is "80/TCP" a second time',
    withContainer('ports: [{containerPort: 80, hostPort: 80}, {containerPort: 81, hostPort: ▸80}]'),
  ],
  [
    `${C}.ports[1].hostPort`,
    'is 81',
    withBoth('ports:\n- {containerPort: 80}\n- {containerPort: 80, hostPort: ▸81, protocol: UDP}', 'hostNetwork: true'),
  ],
  [`${C}.env[0].name`, 'is "a=b"', withContainer('env: [{name: ▸a=b, value: c}]')],
  [
    `${C}.env[0].valueFrom`,
    'beside value',
    withContainer('env: [{name: a, value: b, valueFrom: ▸{fieldRef: {fieldPath: metadata.name}}}]'),
  ],
  [`${C}.env[0].valueFrom`, 'has no source', withContainer('env: [{name: a, valueFrom: ▸{}}]')],
  [
    `${C}.env[0].valueFrom.resourceFieldRef`,
    'beside fieldRef',
    withContainer(
      'env: [{name: a, valueFrom: {fieldRef: {fieldPath: metadata.name}, ▸resourceFieldRef: {resource: limits.cpu}}}]',
    ),
  ],
  [
    `${C}.env[0].valueFrom.fieldRef.fieldPath`,
    'is "spec.hostname"',
    withContainer('env: [{name: a, valueFrom: {fieldRef: {fieldPath: ▸spec.hostname}}}]'),
  ],
  [
    `${C}.env[0].valueFrom.fieldRef.apiVersion`,
    'is "v2"',
    withContainer('env: [{name: a, valueFrom: {fieldRef: {apiVersion: ▸v2, fieldPath: metadata.name}}}]'),
  ],
  [
    `${C}.env[0].valueFrom.resourceFieldRef.resource`,
    'is "cpu"',
    withContainer('env: [{name: a, valueFrom: {resourceFieldRef: {resource: ▸cpu}}}]'),
  ],
  [
    `${C}.env[0].valueFrom.resourceFieldRef.divisor`,
    'is 2',
    withContainer('env: [{name: a, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: ▸2}}}]'),
  ],
  [
    `${C}.env[0].valueFrom.secretKeyRef.name`,
    'is missing',
    withContainer('env: [{name: a, valueFrom: {secretKeyRef: ▸{key: k}}}]'),
  ],
  [
    `${C}.env[0].valueFrom.fileKeyRef.volumeName`,
    'is "v"',
    withContainer('env: [{name: a, valueFrom: {fileKeyRef: {volumeName: ▸v, path: p, key: k}}}]'),
  ],
  ...(
    [
      ['path', 'is empty', '{volumeName: v, path: ▸"", key: k}'],
      ['path', 'is the absolute path "/p"', '{volumeName: v, path: ▸/p, key: k}'],
      ['path', 'is "a/../p"', '{volumeName: v, path: ▸a/../p, key: k}'],
      ['path', 'is "..p"', '{volumeName: v, path: ▸..p, key: k}'],
      ['key', 'is ""', '{volumeName: v, path: p, key: ▸""}'],
      ['key', 'is "a=b"', '{volumeName: v, path: p, key: ▸a=b}'],
    ] as const
  ).map(
    ([field, problem, reference]) =>
      [
        `${C}.env[0].valueFrom.fileKeyRef.${field}`,
        problem,
        withBoth(`env: [{name: a, valueFrom: {fileKeyRef: ${reference}}}]`, 'volumes: [{name: v, emptyDir: {}}]'),
      ] as const,
  ),
  [
    `${C}.env[0].valueFrom.configMapKeyRef.key`,
    'is empty',
    withContainer('env: [{name: a, valueFrom: {configMapKeyRef: {name: a, key: ▸""}}}]'),
  ],
  [`${C}.envFrom[0].configMapRef.name`, 'is missing', withContainer('envFrom: [{configMapRef: ▸{}}]')],
  [`${C}.envFrom[0].secretRef.name`, 'is missing', withContainer('envFrom: [{secretRef: ▸{}}]')],
  [`${C}.envFrom[0]`, 'has no source', withContainer('envFrom: [▸{prefix: a}]')],
  [
    `${C}.envFrom[0].secretRef`,
    'beside configMapRef',
    withContainer('envFrom: [{configMapRef: {name: a}, secretRef: ▸{name: a}}]'),
  ],
  [`${C}.resources.requests.cpu`, 'is 2', withContainer('resources: {requests: {cpu: ▸2}, limits: {cpu: 1}}')],
  [`${C}.resources.limits.memory`, 'is -1', withContainer('resources: {limits: {memory: ▸-1}}')],
  [
    `${C}.resources.limits.gpu`,
    'not a resource that a container or pod can request',
    withContainer('resources: {limits: {▸gpu: 1}}'),
  ],
  [
    `${C}.resources.limits["example.com/gpu"]`,
    'is 500m',
    withContainer('resources: {limits: {example.com/gpu: ▸0.5}}'),
  ],
  [
    `${C}.resources.requests["example.com/gpu"]`,
    'has no limit',
    withContainer('resources: {requests: {example.com/gpu: ▸1}}'),
  ],
  [
    `${C}.resources.requests["example.com/gpu"]`,
    'exactly the limit',
    withContainer('resources: {requests: {example.com/gpu: ▸1}, limits: {example.com/gpu: 2}}'),
  ],
  [`${C}.resources`, 'requests only huge pages', withContainer('resources: ▸{limits: {hugepages-2Mi: 4Mi}}')],
  [`${C}.resources.claims[0].name`, 'is "x"', withContainer('resources: {claims: [{name: ▸x}]}')],
  [
    `${C}.resources.limits.cpu`,
    'at most 1, the limit of the pod',
    withBoth('resources: {limits: {cpu: ▸2}, requests: {cpu: 1}}', 'resources: {limits: {cpu: 1}}'),
  ],
  [`${C}.securityContext.runAsGroup`, 'is -1', withContainer('securityContext: {runAsGroup: ▸-1}')],
  [
    `${C}.securityContext.allowPrivilegeEscalation`,
    'privileged container',
    withContainer('securityContext: {privileged: true, allowPrivilegeEscalation: ▸false}'),
  ],
  [
    `${C}.securityContext.allowPrivilegeEscalation`,
    'SYS_ADMIN',
    withContainer('securityContext: {allowPrivilegeEscalation: ▸false, capabilities: {add: [SYS_ADMIN]}}'),
  ],
  [`${C}.securityContext.procMount`, 'is "All"', withContainer('securityContext: {procMount: ▸All}')],
  [`${C}.securityContext.procMount`, 'is Unmasked', withContainer('securityContext: {procMount: ▸Unmasked}')],
];

export const HANDLERS: readonly Row[] = [
  [`${C}.livenessProbe`, 'has no action', withContainer('livenessProbe: ▸{periodSeconds: 5}')],
  [
    `${C}.livenessProbe.tcpSocket`,
    'beside exec',
    withContainer('livenessProbe: {exec: {command: [a]}, ▸tcpSocket: {port: 1}}'),
  ],
  [`${C}.livenessProbe.exec.command`, 'is missing', withContainer('livenessProbe: {exec: ▸{}}')],
  [`${C}.livenessProbe.httpGet.port`, 'is 0', withContainer('livenessProbe: {httpGet: {port: ▸0}}')],
  [`${C}.livenessProbe.httpGet.port`, 'is "Web"', withContainer('livenessProbe: {httpGet: {port: ▸Web}}')],
  [
    `${C}.livenessProbe.httpGet.scheme`,
    'is "http"',
    withContainer('livenessProbe: {httpGet: {port: 1, scheme: ▸http}}'),
  ],
  [
    `${C}.livenessProbe.httpGet.httpHeaders[0].name`,
    'is "a b"',
    withContainer('livenessProbe: {httpGet: {port: 1, httpHeaders: [{name: ▸a b, value: c}]}}'),
  ],
  [`${C}.livenessProbe.tcpSocket.port`, 'is 70000', withContainer('livenessProbe: {tcpSocket: {port: ▸70000}}')],
  [`${C}.livenessProbe.grpc.port`, 'is 0', withContainer('livenessProbe: {grpc: {port: ▸0}}')],
  [
    `${C}.livenessProbe.initialDelaySeconds`,
    'is -1',
    withContainer('livenessProbe: {tcpSocket: {port: 1}, initialDelaySeconds: ▸-1}'),
  ],
  [
    `${C}.livenessProbe.failureThreshold`,
    'is -3',
    withContainer('livenessProbe: {tcpSocket: {port: 1}, failureThreshold: ▸-3}'),
  ],
  [
    `${C}.livenessProbe.successThreshold`,
    'is 2',
    withContainer('livenessProbe: {tcpSocket: {port: 1}, successThreshold: ▸2}'),
  ],
  [
    `${C}.startupProbe.successThreshold`,
    'is 3',
    withContainer('startupProbe: {tcpSocket: {port: 1}, successThreshold: ▸3}'),
  ],
  [
    `${C}.startupProbe.terminationGracePeriodSeconds`,
    'is 0',
    withContainer('startupProbe: {tcpSocket: {port: 1}, terminationGracePeriodSeconds: ▸0}'),
  ],
  [
    `${C}.readinessProbe.terminationGracePeriodSeconds`,
    'in a readinessProbe',
    withContainer('readinessProbe: {tcpSocket: {port: 1}, terminationGracePeriodSeconds: ▸5}'),
  ],
  [`${C}.lifecycle.preStop`, 'has no action', withContainer('lifecycle: {preStop: ▸{}}')],
  [
    `${C}.lifecycle.postStart.httpGet`,
    'beside exec',
    withContainer('lifecycle: {postStart: {exec: {command: [a]}, ▸httpGet: {port: 1}}}'),
  ],
  [`${C}.lifecycle.preStop.sleep.seconds`, 'is 31', withContainer('lifecycle: {preStop: {sleep: {seconds: ▸31}}}')],
  [`${C}.lifecycle.stopSignal`, 'is "TERM"', withContainer('lifecycle: {stopSignal: ▸TERM}')],
  [`${C}.lifecycle.stopSignal`, 'without spec.os.name', withContainer('lifecycle: {stopSignal: ▸SIGTERM}')],
  [`${I}.livenessProbe`, 'runs to its end', withInit('▸livenessProbe: {tcpSocket: {port: 1}}')],
  [`${I}.readinessProbe`, 'runs to its end', withInit('restartPolicy: Never\n▸readinessProbe: {tcpSocket: {port: 1}}')],
  [`${I}.lifecycle`, 'runs to its end', withInit('▸lifecycle: {preStop: {sleep: {seconds: 1}}}')],
];

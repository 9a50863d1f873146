import type { PodManifest } from '../../../model/manifest/pod-manifest.js';
import { withPodDefaults } from '../../../model/manifest/pod-defaults.js';
import type { Container, LifecycleHandler, Probe } from '../../../model/pod/pod.js';
import type { Volume } from '../../../model/manifest/volume-defaults.js';
import type { SeededRandom } from '../world/seeded-random.js';
import { weighted } from './weighted.js';

/** The existing images; their behaviour is up to the history. */
export const IMAGES = ['registry.test/web:1', 'registry.test/job:2', 'registry.test/side:latest'] as const;

/** The exit code of restart rules. */
export const RULED_EXIT_CODE = 42;

/** Generates a valid manifest with the fields of a pod that decide when something happens. */
export const generatePod = (draw: SeededRandom, name: string, uid?: string): PodManifest => {
  const restartPolicy = weighted(draw, [
    [6, 'Always' as const],
    [2, 'OnFailure' as const],
    [2, 'Never' as const],
  ]);
  const graceSeconds = draw.pick([0, 1, 2, 3, 5, 10, 30]);
  const regular = ['main', 'other', 'third'].slice(
    0,
    weighted(draw, [
      [5, 1],
      [3, 2],
      [1, 3],
    ] as const),
  );
  const initial = ['init-1', 'init-2'].slice(
    0,
    weighted(draw, [
      [6, 0],
      [3, 1],
      [1, 2],
    ] as const),
  );
  let port = 8080;
  const withPort = () => port++;
  const initContainers = [
    ...initial.map((container) => generateContainer(draw, container, { role: 'init', graceSeconds, port: withPort() })),
    ...(draw.chance(0.25)
      ? [{ ...generateContainer(draw, 'sidecar', { role: 'sidecar', graceSeconds, port: withPort() }) }]
      : []),
  ];
  // A sidecar may be before, between or after regular init containers.
  if (initContainers.length > 1 && draw.chance(0.5)) initContainers.unshift(initContainers.pop()!);
  const hostNetwork = draw.chance(0.05);
  const volumes = draw.chance(0.4) ? generateVolumes(draw) : [];
  const mounting = (containers: readonly Container[]): Container[] =>
    containers.map((container) => ({ ...container, ...generateMounts(draw, volumes) }));
  return withPodDefaults({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', ...(uid !== undefined && { uid }), labels: { app: name } },
    spec: {
      restartPolicy,
      terminationGracePeriodSeconds: graceSeconds,
      ...(draw.chance(0.1) && { activeDeadlineSeconds: draw.integer(3, 90) }),
      ...(hostNetwork && { hostNetwork }),
      ...(draw.chance(0.05) && { shareProcessNamespace: true }),
      ...(volumes.length > 0 && { volumes }),
      ...(initContainers.length > 0 && { initContainers: mounting(initContainers) }),
      containers: mounting(
        regular.map((container) =>
          generateContainer(draw, container, { role: 'regular', graceSeconds, port: withPort() }),
        ),
      ),
    },
  });
};

/** Volumes that need no other object. */
const generateVolumes = (draw: SeededRandom): Volume[] => {
  const all: readonly Volume[] = [
    { name: 'scratch', emptyDir: {} },
    { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '10Mi' } },
    { name: 'info', downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
  ];
  return all.slice(draw.integer(0, 2));
};

/** Most containers mount some of the volumes, some of them a part. */
const generateMounts = (draw: SeededRandom, volumes: readonly Volume[]): Pick<Container, 'volumeMounts'> => {
  const volumeMounts = volumes
    .filter(() => draw.chance(0.7))
    .map(({ name, emptyDir }) => ({
      name,
      mountPath: `/volumes/${name}`,
      ...(emptyDir && draw.chance(0.3) && { subPath: 'part' }),
    }));
  return volumeMounts.length > 0 ? { volumeMounts } : {};
};

interface Place {
  readonly role: 'init' | 'sidecar' | 'regular';
  readonly graceSeconds: number;
  readonly port: number;
}

const generateContainer = (draw: SeededRandom, name: string, { role, graceSeconds, port }: Place): Container => {
  const canBeAsked = role !== 'init';
  const readinessProbe = canBeAsked && draw.chance(0.35) ? generateProbe(draw, 'readiness', port) : undefined;
  const livenessProbe = canBeAsked && draw.chance(0.25) ? generateProbe(draw, 'liveness', port) : undefined;
  const startupProbe = canBeAsked && draw.chance(0.2) ? generateProbe(draw, 'startup', port) : undefined;
  const preStop = canBeAsked && draw.chance(0.2) ? generateHook(draw, 'pre-stop', { graceSeconds, port }) : undefined;
  const postStart =
    canBeAsked && draw.chance(0.1) ? generateHook(draw, 'post-start', { graceSeconds, port }) : undefined;
  return {
    name,
    image: draw.pick(IMAGES),
    ...(draw.chance(0.15) && { imagePullPolicy: draw.pick(['Always', 'IfNotPresent', 'Never']) }),
    ...(canBeAsked && { ports: [{ containerPort: port }] }),
    ...(role === 'sidecar' && { restartPolicy: 'Always' }),
    ...(role !== 'sidecar' && draw.chance(0.12) && generateRestartRules(draw)),
    ...(readinessProbe && { readinessProbe }),
    ...(livenessProbe && { livenessProbe }),
    ...(startupProbe && { startupProbe }),
    ...((preStop ?? postStart) && { lifecycle: { ...(preStop && { preStop }), ...(postStart && { postStart }) } }),
  };
};

/** A restart policy of the container's own, and perhaps an exit code that restarts it, or every container. */
const generateRestartRules = (draw: SeededRandom): Pick<Container, 'restartPolicy' | 'restartPolicyRules'> => ({
  restartPolicy: draw.pick(['Never', 'OnFailure']),
  ...(draw.chance(0.8) && {
    restartPolicyRules: [
      {
        action: draw.chance(0.4) ? 'RestartAllContainers' : 'Restart',
        exitCodes: { operator: 'In', values: [RULED_EXIT_CODE] },
      },
    ],
  }),
});

const generateProbe = (draw: SeededRandom, kind: 'readiness' | 'liveness' | 'startup', port: number): Probe => ({
  ...draw.pick<Probe>([
    { exec: { command: ['probe', kind] } },
    { httpGet: { path: `/${kind}`, port } },
    { tcpSocket: { port } },
    { grpc: { port } },
  ]),
  initialDelaySeconds: draw.pick([0, 0, 1, 3, 7]),
  periodSeconds: draw.pick([1, 2, 3, 5, 10]),
  timeoutSeconds: draw.pick([1, 1, 2, 5]),
  failureThreshold: kind === 'startup' ? draw.integer(1, 15) : draw.integer(1, 4),
  successThreshold: kind === 'readiness' ? draw.integer(1, 3) : 1,
  ...(kind !== 'readiness' && draw.chance(0.3) && { terminationGracePeriodSeconds: draw.pick([1, 2, 5]) }),
});

const generateHook = (
  draw: SeededRandom,
  name: string,
  { graceSeconds, port }: Pick<Place, 'graceSeconds' | 'port'>,
): LifecycleHandler =>
  draw.pick<LifecycleHandler>([
    { exec: { command: [name] } },
    { exec: { command: [name] } },
    { httpGet: { path: `/${name}`, port } },
    { sleep: { seconds: draw.integer(0, Math.min(graceSeconds, 8)) } },
  ]);

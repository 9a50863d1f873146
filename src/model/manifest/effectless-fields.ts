import { paceIssues } from '../probes/probe-pace.js';
import { NEVER_EMBEDDED, unappliedFields } from './security-fields.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import type { PodManifest } from './pod-manifest.js';
import { containersWithPaths } from './static-pod-restrictions.js';
import { volumePluginOf } from '../volumes/volume-plugin.js';

/** The resources that the node counts or limits. */
const KNOWN_RESOURCES = /^(cpu|memory|hugepages-.+)$/;

/**
 * Returns the fields of a manifest's pod that this version of the node does not support. A pod with an unsupported
 * volume does not start.
 */
export function* effectlessFields(pod: PodManifest): Generator<FieldIssue> {
  const { spec } = pod;
  const mounted = new Set<string>();
  for (const { at, container } of containersWithPaths(spec)) {
    const { volumeMounts = [], volumeDevices = [] } = container;
    for (const { name } of [...volumeMounts, ...volumeDevices]) mounted.add(name);
    if (volumeDevices.length > 0) {
      const message = 'is not supported, since only persistent volumes have devices: the container will not be created';
      yield atKey(['spec', ...at, 'volumeDevices'], message);
    }
    yield* unknownResources(['spec', ...at, 'resources'], container.resources);
    if (container.resizePolicy !== undefined) {
      yield atKey(['spec', ...at, 'resizePolicy'], 'has no effect: a pod of a manifest that changes is another pod');
    }
  }
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    const at: FieldPath = ['spec', 'volumes', index];
    if (!mounted.has(volume.name)) yield issue(at, 'has no effect: no container mounts it');
    else if (volumePluginOf(volume) === undefined)
      yield issue(at, `is of a kind that is not supported (${kindOf(volume)}): no container of the pod will start`);
  }
  yield* unknownResources(['spec', 'resources'], spec.resources);
  if (spec.runtimeClassName) {
    const message = 'has no effect on a node without a cluster, where the default handler of the runtime is used';
    yield issue(['spec', 'runtimeClassName'], message);
  }
  if (spec.readinessGates?.length) {
    const message = 'only API clients set these conditions: without a cluster the pod never becomes ready';
    yield atKey(['spec', 'readinessGates'], message);
  }
  for (const { path } of unappliedFields(spec, NEVER_EMBEDDED)) {
    yield atKey(['spec', ...path], 'is not applied by the embedded runtime; other runtimes apply it');
  }
  if (spec.securityContext?.fsGroupChangePolicy !== undefined) {
    const message = 'has no effect: it is for persistent volumes, which are not supported';
    yield atKey(['spec', 'securityContext', 'fsGroupChangePolicy'], message);
  }
  for (const { annotation, message } of paceIssues(pod)) {
    yield issue(['metadata', 'annotations', annotation], `has no effect: ${message}`);
  }
}

const kindOf = (volume: object): string =>
  Object.keys(volume)
    .filter((key) => key !== 'name')
    .join(' and ');

const atKey = (path: FieldPath, message: string): FieldIssue => ({ ...issue(path, message), atKey: true });

function* unknownResources(at: FieldPath, resources: PodManifest['spec']['resources']): Generator<FieldIssue> {
  for (const kind of ['limits', 'requests'] as const) {
    for (const name of Object.keys(resources?.[kind] ?? {})) {
      if (KNOWN_RESOURCES.test(name)) continue;
      // Defaulting copies a limit to its request, which is not in the text.
      if (kind === 'requests' && resources?.limits?.[name] !== undefined) continue;
      yield atKey([...at, kind, name], 'has no effect: this node neither counts nor limits it');
    }
  }
}

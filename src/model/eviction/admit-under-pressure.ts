import type { Admit } from '../admission/rejection.js';
import { toleratesTaint } from '../admission/taints.js';
import type { NodePressure } from '../node/node-conditions.js';
import { isCriticalPod, type Pod } from '../pod/pod.js';
import { qosClass } from '../pod-status/qos.js';
import { EVICTED } from './evicted-status.js';

const CONDITIONS: Readonly<Record<keyof NodePressure, string>> = {
  memory: 'MemoryPressure',
  disk: 'DiskPressure',
  pid: 'PIDPressure',
};
const MEMORY_TAINT = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' } as const;

/**
 * Rejects pods while the node is short of something, except critical ones. Short of memory alone it still takes pods that request some, and
 * those that tolerate the taint of that condition.
 *
 * Source: pkg/kubelet/eviction/eviction_manager.go Admit
 */
export const admitUnderPressure =
  (pressure: () => NodePressure): Admit =>
  (pod) => {
    const shortage = pressure();
    const conditions = (['memory', 'disk', 'pid'] as const).filter((kind) => shortage[kind]);
    if (conditions.length === 0 || isCriticalPod(pod)) return undefined;
    if (conditions.every((kind) => kind === 'memory') && bearsMemoryPressure(pod)) return undefined;
    const names = conditions.map((kind) => CONDITIONS[kind]).join(' ');
    return { reason: EVICTED, message: `The node had condition: [${names}]. ` };
  };

const bearsMemoryPressure = (pod: Pod): boolean =>
  qosClass(pod) !== 'BestEffort' || toleratesTaint(pod.spec, MEMORY_TAINT);

import { ApiError, isAlreadyExists, isUnanswered } from '../../../model/kube-api/api-error.js';
import { STRATEGIC_MERGE_PATCH } from '../../../model/kube-api/patch-type.js';
import type { ApiRequest } from '../../../streams/ports/api-server.js';
import type { SimulatedApiServer } from '../api-server/simulated-api-server.js';
import type { VirtualScheduler } from '../world/virtual-scheduler.js';
import type { ClusterChange, ClusterPlan } from './cluster-plan.js';

/** The time between two attempts of a failed action. */
const RETRY_MS = 500;

interface Side {
  readonly server: SimulatedApiServer;
  readonly scheduler: VirtualScheduler;
  readonly nodeName: string;
}

/** Users of the API who carry out the plan, each action after the earlier ones about the same pod. */
export const clusterUsers = ({ changes }: ClusterPlan, side: Side): void => {
  const { scheduler } = side;
  const waiting = new Map<string, ClusterChange[]>();
  const goOn = (subject: string): void => {
    const queue = waiting.get(subject)!;
    while (queue[0]) {
      if (!isDone(queue[0], side)) return void scheduler.schedule(() => goOn(subject), RETRY_MS);
      queue.shift();
    }
  };
  for (const change of changes) {
    const begin = (): void => {
      const subject = subjectOf(change);
      const queue = waiting.get(subject) ?? [];
      waiting.set(subject, queue);
      if (queue.push(change) === 1) goOn(subject);
    };
    scheduler.schedule(begin, change.atMs);
  }
};

const subjectOf = (change: ClusterChange): string => {
  switch (change.kind) {
    case 'create':
      return change.pod.metadata.name;
    case 'delete-node':
      return 'node';
    default:
      return change.pod;
  }
};

/** Whether the action was carried out, or can never be; else it is tried again. */
const isDone = (change: ClusterChange, { server, nodeName }: Side): boolean => {
  try {
    server.do(requestOf(change, nodeName));
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // The pod before it still exists, or the server is away.
    return !isUnanswered(error) && !isAlreadyExists(error);
  }
};

const PODS = '/api/v1/namespaces/default/pods';

const requestOf = (change: ClusterChange, nodeName: string): ApiRequest => {
  switch (change.kind) {
    case 'create':
      return { method: 'POST', path: PODS, body: change.pod };
    case 'patch':
      return patch(`${PODS}/${change.pod}`, change.patch);
    case 'patch-status':
      return patch(`${PODS}/${change.pod}/status`, change.patch);
    case 'delete': {
      const { pod, graceSeconds } = change;
      return { method: 'DELETE', path: `${PODS}/${pod}`, body: { gracePeriodSeconds: graceSeconds } };
    }
    case 'delete-node':
      return { method: 'DELETE', path: `/api/v1/nodes/${nodeName}` };
  }
};

/** Lists with named elements are merged by the names. */
const patch = (path: string, body: object): ApiRequest => ({
  method: 'PATCH',
  path,
  body,
  contentType: STRATEGIC_MERGE_PATCH,
});

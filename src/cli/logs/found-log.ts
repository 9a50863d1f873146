import type { Observable } from 'rxjs';
import type { RuntimeService } from '../../streams/ports/runtime-service.js';
import type { AgentPaths } from '../config/settings/agent-paths.js';
import type { PodRequest } from './choose-pod.js';

export interface LogRequest extends PodRequest {
  /** Absent for the default container of the pod. */
  readonly container?: string;
  readonly previous: boolean;
}

export interface FoundLog {
  readonly path: string;
  /** Emits once whether its container runs. */
  readonly isRunning: () => Observable<boolean>;
  /** Lines for standard error. */
  readonly notes: readonly string[];
}

export interface LogPlaces {
  readonly paths: AgentPaths;
  readonly runtime: Pick<RuntimeService, 'containerStatus' | 'listContainers' | 'listPodSandbox'>;
}

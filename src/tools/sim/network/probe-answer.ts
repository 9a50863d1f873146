import type { ProbeHandlerKind } from '../../../streams/ports/probe-handlers.js';
import type { InstanceBehaviour, ProbeFailure, ProbeName } from '../world/behaviour.js';

/** The request of a probe to a container. */
export interface Question {
  readonly kind: ProbeHandlerKind;
  /** The probe of the request, if known. */
  readonly which?: ProbeName | undefined;
  readonly path?: string;
  readonly port?: number;
}

export type ProbeAnswer = 'succeeds' | 'fails' | 'refuses' | 'hangs';

/** Returns the reply of an instance that has run for this long. */
export const probeAnswer = (
  { readyAfterMs = 0, probeFailures = [] }: InstanceBehaviour,
  question: Question,
  sinceStartMs: number,
): ProbeAnswer => {
  if (sinceStartMs < readyAfterMs) return 'refuses';
  const failure = probeFailures.find((one) => applies(one, question, sinceStartMs));
  return failure ? (failure.how ?? 'fails') : 'succeeds';
};

const applies = (failure: ProbeFailure, question: Question, sinceStartMs: number): boolean =>
  sinceStartMs >= (failure.fromMs ?? 0) &&
  sinceStartMs < (failure.toMs ?? Infinity) &&
  (failure.kind === undefined || failure.kind === question.kind) &&
  (failure.which === undefined || failure.which === question.which) &&
  (failure.path === undefined || failure.path === question.path) &&
  (failure.port === undefined || failure.port === question.port);

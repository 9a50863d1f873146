export type ProbeType = 'startup' | 'readiness' | 'liveness';

/** In the order in which the workers of one container are created. */
export const PROBE_TYPES: readonly ProbeType[] = ['startup', 'readiness', 'liveness'];

import type { RuntimeFeatures, RuntimeHandler } from '../../generated/runtime/v1/api.js';

/** What the loop knows of the runtime. */
export interface RuntimeReport {
  /** Why the node is not ready, in the order of the kubelet: the runtime first, then its network. */
  readonly problems: readonly string[];
  /** What it offers beside the default; absent until it has been ready. */
  readonly handlers?: readonly RuntimeHandler[];
  readonly features?: RuntimeFeatures;
}

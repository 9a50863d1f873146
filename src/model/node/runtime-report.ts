import type { RuntimeFeatures, RuntimeHandler } from '../../generated/runtime/v1/api.js';

/** The loop's knowledge of the runtime. */
export interface RuntimeReport {
  /** The reasons why the node is not ready, in the kubelet's order: the runtime first, then its network. */
  readonly problems: readonly string[];
  /** The runtime handlers beside the default; absent until the runtime has been ready. */
  readonly handlers?: readonly RuntimeHandler[];
  readonly features?: RuntimeFeatures;
}

import type { AgentConfig } from '../fields/kubelet-configuration.js';
import type { JsonObject } from '../document/merge-patch.js';

/**
 * A rule of one field: returns the problem, or nothing. `given` holds the fields of files and flags, without defaults.
 */
export type ConfigurationRule = (config: AgentConfig, given: JsonObject) => string | false;

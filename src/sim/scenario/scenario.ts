import type { ImageBehaviour, InstanceBehaviour, NodeBehaviours } from '../behaviour.js';

/** How a hook of a container goes that is a command. */
export interface HookScript {
  /** Milliseconds. */
  readonly takesMs?: number;
  readonly exitCode?: number;
}

/** One instance of a container, with its hooks by what they are, as their commands are only known to manifests. */
export interface InstanceScript extends InstanceBehaviour {
  readonly postStart?: HookScript;
  readonly preStop?: HookScript;
}

/** How the node behaves, but for its containers and images, and how the agent on it is configured. */
export type NodeScript = Omit<NodeBehaviours, 'containers' | 'images'> & {
  /** Whether the agent relies on events of the runtime, so that it lists rarely. */
  readonly eventedPleg?: boolean;
};

/** Something that happens at its time, from the start of the node. Milliseconds. */
export type TimelineStep = { readonly atMs: number } & (
  | { readonly kind: 'delete-pod'; readonly pod: string }
  | { readonly kind: 'restart-agent' | 'restart-runtime'; readonly downMs: number }
  /** The program ends, whatever its behaviour. `container` is `pod/container`. */
  | { readonly kind: 'exit'; readonly container: string; readonly exitCode: number }
  | { readonly kind: 'image'; readonly image: string; readonly behaviour: ImageBehaviour }
);

/** What is assumed about the world in which pods run. */
export interface Scenario {
  /** By `pod/container` or `container`, or `*` for all others: instances in order; the last is repeated. */
  readonly containers: Readonly<Record<string, readonly InstanceScript[]>>;
  /** By the name that manifests use, or `*` for all others. */
  readonly images: Readonly<Record<string, ImageBehaviour>>;
  readonly node: NodeScript;
  /** In the order of the text. */
  readonly timeline: readonly TimelineStep[];
}

/** Everything starts at once and goes well. */
export const NOTHING_ASSUMED: Scenario = { containers: {}, images: {}, node: {}, timeline: [] };

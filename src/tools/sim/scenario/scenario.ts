import type { ImageBehaviour, InstanceBehaviour, NodeBehaviours } from '../world/behaviour.js';

/** The behaviour of a container's hook that is a command. */
export interface HookScript {
  /** Milliseconds. */
  readonly takesMs?: number;
  readonly exitCode?: number;
}

/** The behaviour of one instance of a container, with its hooks by kind, since only manifests know their commands. */
export interface InstanceScript extends InstanceBehaviour {
  readonly postStart?: HookScript;
  readonly preStop?: HookScript;
}

/** The behaviour of the node beside its containers and images, and the settings of its agent. */
export type NodeScript = Omit<NodeBehaviours, 'containers' | 'images'> & {
  /** Whether the agent relies on events of the runtime, so that it lists rarely. */
  readonly eventedPleg?: boolean;
};

/** An effect at a time from the start of the node, in milliseconds. */
export type TimelineStep = { readonly atMs: number } & (
  | { readonly kind: 'delete-pod'; readonly pod: string }
  | { readonly kind: 'restart-agent' | 'restart-runtime'; readonly downMs: number }
  /** The program ends, with any behaviour. `container` is `pod/container`. */
  | { readonly kind: 'exit'; readonly container: string; readonly exitCode: number }
  | { readonly kind: 'image'; readonly image: string; readonly behaviour: ImageBehaviour }
);

/** The assumptions about the world of the pods. */
export interface Scenario {
  /** By `pod/container` or `container`, or `*` for all others: instances in order; the last is repeated. */
  readonly containers: Readonly<Record<string, readonly InstanceScript[]>>;
  /** By the name in manifests, or `*` for all others. */
  readonly images: Readonly<Record<string, ImageBehaviour>>;
  readonly node: NodeScript;
  /** In the order of the text. */
  readonly timeline: readonly TimelineStep[];
}

/** Everything starts at once and succeeds. */
export const NOTHING_ASSUMED: Scenario = { containers: {}, images: {}, node: {}, timeline: [] };

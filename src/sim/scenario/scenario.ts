/** One instance of a container, from its start on. Milliseconds unless a name says otherwise. */
export interface InstanceScript {
  /** Until then the program answers no probe. */
  readonly startsAfterMs?: number;
  /** Until then it fails its readiness probes; with `startsAfterMs` unless given. */
  readonly readyAfterMs?: number;
  /** The program ends by itself; it runs until it is stopped unless given. */
  readonly exitsAfterMs?: number;
  /** With which it ends by itself; 0 unless given. */
  readonly exitCode?: number;
  /** What the stop signal does; the program ends at once, or after `stopsAfterMs`, unless given. */
  readonly onStop?: 'exits' | 'hangs';
  readonly stopsAfterMs?: number;
  /** With which it ends on the stop signal; 0 unless given. */
  readonly stopExitCode?: number;
  readonly failsProbes?: readonly FailingProbes[];
  /** How long the answer to a probe takes. */
  readonly probesTakeMs?: number;
  /** How long the command of its hook runs. */
  readonly postStartTakesMs?: number;
  readonly preStopTakesMs?: number;
  /** The runtime cannot start it, with these words. */
  readonly startError?: string;
}

export interface FailingProbes {
  /** From the start of the instance. */
  readonly fromMs?: number;
  /** Until it ends unless given. */
  readonly toMs?: number;
  /** Of every kind unless given. */
  readonly probe?: ProbeKind;
}

export type ProbeKind = 'startup' | 'readiness' | 'liveness';

export interface ImageScript {
  /** How long a pull takes. */
  readonly pullMs?: number;
  /** It is on the node already. */
  readonly present?: boolean;
  /** So many pulls fail before one succeeds. */
  readonly failures?: number | 'always';
  /** With these words. */
  readonly error?: string;
}

export interface NodeScript {
  /** How long the runtime takes for a call. */
  readonly callMs?: number;
  /** How long it takes to make a sandbox. */
  readonly sandboxMs?: number;
  /** Whether the agent relies on events of the runtime, so that it lists rarely. */
  readonly eventedPleg?: boolean;
}

/** Something that happens at its time, from the start of the node. */
export type TimelineStep = { readonly atMs: number } & (
  | { readonly kind: 'delete-pod'; readonly pod: string }
  | { readonly kind: 'restart-agent' | 'restart-runtime'; readonly downMs: number }
  | { readonly kind: 'exit'; readonly container: string; readonly exitCode: number }
  | { readonly kind: 'image'; readonly image: string; readonly script: ImageScript }
);

/** What is assumed about the world in which pods run. */
export interface Scenario {
  /** By `pod/container` or `container`: its instances in order; the last is repeated. */
  readonly containers: Readonly<Record<string, readonly InstanceScript[]>>;
  /** By the name that manifests use. */
  readonly images: Readonly<Record<string, ImageScript>>;
  readonly node: NodeScript;
  readonly timeline: readonly TimelineStep[];
}

/** Everything starts at once and goes well. */
export const NOTHING_ASSUMED: Scenario = { containers: {}, images: {}, node: {}, timeline: [] };

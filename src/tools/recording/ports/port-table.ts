import type { Observable } from 'rxjs';
import type { KubeletOptions, KubeletPorts } from '../../../kubelet-options.js';
import type { VolumePayload } from '../../../model/volumes/volume-payload.js';
import { type Pod, podRef, uidsOf } from '../../../model/pod/pod.js';
import type { SourceEvent } from '../../../model/pod/pod-set.js';
import type { NodeAgentEvent } from '../../../streams/ports/record-event.js';
import type { ProbeTarget } from '../../../streams/ports/probe-handlers.js';

/** A port that returns an Observable: a call, or a stream. */
export interface CallRule {
  readonly kind: 'call';
  /** The part of the reply that is a list of items, most of which were in the reply before. */
  readonly items?: ListedItems;
  /** Fields of requests and replies that are secrets as a whole. */
  readonly secrets?: ReadonlySet<string>;
  /** Whether a reply is public, such as pods: it contains no secret, except in `objects`. */
  readonly isPublic?: (reply: unknown) => boolean;
  /** The field of the reply that holds objects of the Kubernetes API, of which some are secrets. */
  readonly objects?: string;
  /** Replies are secrets of the Kubernetes API. */
  readonly repliesPullSecrets?: boolean;
  /** Replies are env files, whose values may be secrets. */
  readonly repliesEnvFiles?: boolean;
  /** Requests and replies hold objects of the Kubernetes API, of which some are secrets and pods are public. */
  readonly holdsApiObjects?: boolean;
  /** The part of the arguments that is written and compared; all of them by default. */
  readonly written?: (...args: readonly never[]) => readonly unknown[];
}

export interface ListedItems {
  /** The field of the reply that holds the list. */
  readonly field: string;
  /** The id of an item. */
  readonly idOf: (item: unknown) => unknown;
}

/** A port that returns at once. `isPure`: equal arguments have equal results, so that each is written once. */
export interface AskedRule {
  readonly kind: 'asked';
  readonly isPure?: boolean;
  readonly secrets?: ReadonlySet<string>;
  /** The result is a secret as a whole. */
  readonly answersSecret?: boolean;
}

/** A port that is called without a result. */
export interface ToldRule {
  readonly kind: 'told';
  readonly written?: (...args: readonly never[]) => readonly unknown[];
}

/** A port that is data, and does not change. */
export interface FactRule {
  readonly kind: 'fact';
}

/** A port without influence: the loop calls it and receives nothing from it. */
export interface IgnoredRule {
  readonly kind: 'ignored';
}

/** Code of the user: the caller of a replay passes it again. */
export interface CodeRule {
  readonly kind: 'code';
}

/** Ports with a place of their own in a recording. */
export interface SpecialRule<Kind extends string> {
  readonly kind: Kind;
}

type Code = (...args: never[]) => unknown;
type RuleOfCode<T> = T extends (...args: never[]) => infer Answer
  ? Answer extends Observable<unknown>
    ? CallRule
    : [Answer] extends [void]
      ? ToldRule
      : AskedRule
  : never;
/** A map has methods, but is data. */
type HasCode<T> =
  T extends ReadonlyMap<unknown, unknown>
    ? false
    : true extends { [Key in keyof T]-?: NonNullable<T[Key]> extends Code ? true : never }[keyof T]
      ? true
      : false;

/** One rule for every member; for a group of ports, one for each of them. */
export type RulesOf<T, Special extends object> = {
  readonly [Key in keyof Required<T>]: Key extends keyof Special
    ? Special[Key]
    : NonNullable<T[Key]> extends Code
      ? RuleOfCode<NonNullable<T[Key]>> | IgnoredRule
      : HasCode<NonNullable<T[Key]>> extends true
        ? RulesOf<NonNullable<T[Key]>, object> | IgnoredRule
        : FactRule;
};

export interface SpecialPorts {
  readonly scheduler: SpecialRule<'scheduler'>;
  readonly wallClock: SpecialRule<'wall-clock'>;
  readonly record: SpecialRule<'journal'>;
  readonly nodeCgroups: RulesOf<NonNullable<KubeletPorts['nodeCgroups']>, { readonly cgroups: CgroupRules }>;
}
type CgroupRules = RulesOf<NonNullable<KubeletPorts['nodeCgroups']>['cgroups'], object>;

interface SpecialOptions {
  readonly sources: SpecialRule<'sources'>;
  readonly stop$: SpecialRule<'stream'>;
  readonly admit: CodeRule;
  readonly swap: CodeRule;
}

export type PortRule =
  | CallRule
  | AskedRule
  | ToldRule
  | FactRule
  | IgnoredRule
  | CodeRule
  | SpecialRule<'scheduler' | 'wall-clock' | 'journal' | 'sources' | 'stream'>;
export interface PortRules {
  readonly [name: string]: PortRule | PortRules;
}

const call: CallRule = { kind: 'call' };
const ofApi: CallRule = { kind: 'call', holdsApiObjects: true };
const fact: FactRule = { kind: 'fact' };
const ignored: IgnoredRule = { kind: 'ignored' };
const code: CodeRule = { kind: 'code' };
const idOf = (item: unknown): unknown => (item as { readonly id?: unknown } | null)?.id;
const uidOf = (pod: unknown): unknown => (pod as Partial<Pod> | null)?.metadata?.uid;
const listing = (field: string): CallRule => ({ kind: 'call', items: { field, idOf } });

const CREDENTIAL_FIELDS: ReadonlySet<string> = new Set(['password', 'identityToken', 'registryToken', 'auth']);
/** A hash of a password reveals it to a reader who can guess it. */
const HASH_FIELDS: ReadonlySet<string> = new Set(['credentialHash']);
const KEY_FIELDS: ReadonlySet<string> = new Set(['privateKey']);
const record: CallRule = { kind: 'call', secrets: HASH_FIELDS };

/** The target of a probe without the parts that follow from the configuration of the pod. */
const probed = ({ type, kind, pod, container, containerId, podIp }: ProbeTarget): readonly unknown[] => [
  { type, kind, pod: pod.metadata.uid, container: container.name, containerId, podIp },
];

/** Only the name of a pod: the pod itself is in the recording where it came in. */
const askedFor = (pod: Pod): readonly unknown[] => [podRef(pod)];
const uidsAsked = (pods: readonly Pod[]): readonly unknown[] => [[...uidsOf(pods)]];
const eventAbout = ({ pod, ...event }: NodeAgentEvent): readonly unknown[] => [{ ...event, pod: pod && podRef(pod) }];

/** The contents of files follow from objects that came in before, and may be secrets. */
const namesOnly = (directory: string, payload: VolumePayload): readonly unknown[] => [
  directory,
  [...payload].map(([path, { mode }]) => ({ path, mode })),
];

/** The rules by which every port of the agent passes through a recording. A missing port does not compile. */
export const PORT_RULES = {
  runtime: {
    version: call,
    status: call,
    runtimeConfig: call,
    updateRuntimeConfig: call,
    runPodSandbox: call,
    stopPodSandbox: call,
    removePodSandbox: call,
    updatePodSandboxResources: call,
    podSandboxStatus: call,
    listPodSandbox: listing('items'),
    createContainer: call,
    startContainer: call,
    stopContainer: call,
    removeContainer: call,
    listContainers: listing('containers'),
    containerStatus: call,
    updateContainerResources: call,
    containerStats: call,
    reopenContainerLog: call,
    execSync: call,
    checkpointContainer: call,
    containerEvents: call,
  },
  images: {
    listImages: listing('images'),
    imageStatus: call,
    pullImage: { kind: 'call', secrets: CREDENTIAL_FIELDS },
    removeImage: call,
    imageFsInfo: call,
  },
  files: {
    makeDirectory: call,
    keepDirectory: call,
    listDirectory: call,
    remove: call,
    removeLog: call,
    link: call,
    danglingLinks: call,
  },
  podFiles: { write: call, read: call, readTail: call, mountsBelow: call },
  volumeFiles: {
    setUp: call,
    write: { kind: 'call', written: namesOnly },
    read: { kind: 'call', repliesEnvFiles: true },
    checkHostPath: call,
    bindSubPath: call,
    makeMountPoint: call,
    unbindSubPaths: call,
    tearDown: call,
    found: call,
  },
  logFiles: {
    size: call,
    rotated: call,
    rename: call,
    compress: call,
    remove: call,
    utcOffsetMinutes: { kind: 'asked' },
  },
  diskSpace: call,
  httpRequest: call,
  probeHandlers: { probe: { kind: 'call', written: probed } },
  probeRecords: { read: call, write: call },
  pullRecords: {
    pulled: record,
    everyPulled: record,
    writePulled: record,
    removePulled: call,
    intents: call,
    writeIntent: call,
    removeIntent: call,
    hashOf: { kind: 'asked', isPure: true, secrets: CREDENTIAL_FIELDS, answersSecret: true },
  },
  nodeCredentials: { kind: 'call', secrets: CREDENTIAL_FIELDS },
  pullSecrets: { kind: 'call', repliesPullSecrets: true, written: askedFor },
  nodeCgroups: {
    cgroups: {
      version: fact,
      hugePageSizes: fact,
      allCpus: fact,
      pathOf: { kind: 'asked', isPure: true },
      nameOf: { kind: 'asked', isPure: true },
      missing: call,
      create: call,
      update: call,
      read: call,
      children: call,
      kill: call,
      remove: call,
    },
    settings: fact,
    capacity: fact,
  },
  shutdownInhibitor: {
    maxDelayMs: call,
    setMaxDelay: call,
    takeLock: call,
    releaseLock: { kind: 'told' },
    watch: call,
  },
  shutdownStates: { read: call, write: call },
  oomLog: { kills: call, records: call },
  checkpoints: { read: call, write: call, pathOf: { kind: 'asked', isPure: true } },
  evictionFigures: { node: call, pods: { kind: 'call', written: uidsAsked }, devices: call },
  cluster: {
    api: { request: ofApi, watch: ofApi },
    resetConnections: { kind: 'told' },
    readMachine: call,
    lookupHost: call,
    lastKnown: {
      readPods: ofApi,
      writePods: ofApi,
      readObjects: ofApi,
      writeObject: ofApi,
      removeObject: call,
    },
    podCertificateKeys: { kind: 'call', secrets: KEY_FIELDS },
  },
  node: fact,
  runtimeName: fact,
  random: { kind: 'asked' },
  scheduler: { kind: 'scheduler' },
  wallClock: { kind: 'wall-clock' },
  record: { kind: 'journal' },
  recordEvent: { kind: 'told', written: eventAbout },
  metrics: ignored,
  log: ignored,
} satisfies RulesOf<KubeletPorts, SpecialPorts>;

/** The same rules for its options. */
export const OPTION_RULES = {
  sources: { kind: 'sources' },
  stop$: { kind: 'stream' },
  runtimeClasses: { kind: 'asked' },
  cluster: fact,
  admit: code,
  swap: code,
  containerGc: fact,
  logRotation: fact,
  imageGc: fact,
  syncFrequencyMs: fact,
  maxRestartBackOffMs: fact,
  imagePulls: fact,
  imageVerification: fact,
  eventedPleg: fact,
  shutdownGroups: fact,
  eviction: fact,
} satisfies RulesOf<KubeletOptions, SpecialOptions>;

/** The rules of each source of pods, and of `stop$`. */
export const SOURCE_RULE: CallRule = {
  kind: 'call',
  items: { field: 'pods', idOf: uidOf },
  objects: 'objects',
  isPublic: (event) => (event as SourceEvent).kind === 'set',
};
export const STOP_RULE: CallRule = call;

export const isRule = (rule: PortRule | PortRules): rule is PortRule => typeof rule.kind === 'string';

/**
 * Returns the results of `make` for every rule with a present port, in the shape of the rules. `path` is such as
 * `runtime.version`.
 */
export const mapRules = (
  rules: PortRules,
  isThere: (path: string) => boolean,
  make: (path: string, rule: PortRule) => unknown,
  prefix = '',
): Record<string, unknown> => {
  const made: Record<string, unknown> = {};
  for (const [name, rule] of Object.entries(rules)) {
    const path = `${prefix}${name}`;
    if (isThere(path)) made[name] = isRule(rule) ? make(path, rule) : mapRules(rule, isThere, make, `${path}.`);
  }
  return made;
};

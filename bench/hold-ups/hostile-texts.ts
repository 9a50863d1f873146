/** A pod, as a value of JSON, with the fields of `more`. */
export const pod = (name: string, more: { readonly metadata?: object; readonly spec?: object } = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...more.metadata },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'main', image: 'host', command: ['sleep', '100000'] }],
    ...more.spec,
  },
});

const keys = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `k${index}`);
const annotations = (count: number): object => Object.fromEntries(keys(count).map((key) => [key, 'v']));
const limits = { cpu: '9'.repeat(40_000) };

/** Hostile files for the folder of manifests, each within the limit of 10 MiB. */
export const HOSTILE_MANIFESTS: Readonly<Record<string, () => string>> = {
  '100,000 keys': () =>
    keys(100_000)
      .map((key) => `${key}: v\n`)
      .join(''),
  '20,000 annotations': () => JSON.stringify(pod('annotated', { metadata: { annotations: annotations(20_000) } })),
  '9 MB of one text': () => `a: ${'x'.repeat(9_000_000)}\n`,
  '9 MB of lists': () => `[${'[],'.repeat(3_000_000)}[]]\n`,
  '20,000 documents': () => 'a: b\n---\n'.repeat(20_000),
  '5,000 pods with a mistake': () =>
    JSON.stringify({
      ...{ apiVersion: 'v1', kind: 'List' },
      items: keys(5_000).map((name) => pod(name, { spec: { restartPolicy: 'Sometimes' } })),
    }),
  'a quantity of 40,000 digits': () =>
    JSON.stringify(pod('large', { spec: { containers: [{ name: 'main', image: 'host', resources: { limits } }] } })),
};

/** Hostile answers of an API server about pods. */
export interface HostileSpeech {
  /** The answer to a list. */
  readonly list?: string;
  /** Lines of a watch. */
  readonly lines?: string;
}

const NODE = 'bench';

const apiPod = (
  name: string,
  version: number,
  more: { readonly metadata?: object; readonly spec?: object } = {},
): object =>
  pod(name, {
    metadata: {
      ...{ namespace: 'default', uid: `00000000-0000-4000-9000-${String(version).padStart(12, '0')}` },
      ...{ resourceVersion: String(version), generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
      ...more.metadata,
    },
    spec: { nodeName: NODE, ...more.spec },
  });

const line = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;
/** Makes clients that watch list again. */
const GONE = line('ERROR', { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Expired', code: 410 });
const listOf = (version: number, items: readonly unknown[]): string =>
  JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: String(version) }, items });
/** A pod that has ended by its status, so that only the read of it is work. */
const ended = (name: string, version: number): object => ({
  ...apiPod(name, version, { spec: { restartPolicy: 'Never' } }),
  status: { phase: 'Succeeded' },
});
/** The versions are above those of the stub. */
const FIRST = 1_000_000;

export const HOSTILE_SPEECHES: Readonly<Record<string, () => HostileSpeech>> = {
  '5,000 lines that are no pods, at once': () => ({
    lines: keys(5_000)
      .map((name, index) => line('ADDED', { ...apiPod(name, FIRST + index), spec: { containers: [null] } }))
      .join(''),
  }),
  'a pod of 15 MiB, of one text': () => ({
    lines: line('ADDED', apiPod('large', 2 * FIRST, { metadata: { annotations: { a: 'x'.repeat(15 * 2 ** 20) } } })),
  }),
  'a pod of 15 MiB, of a million keys': () => ({
    lines: line('ADDED', apiPod('keys', 3 * FIRST, { metadata: { annotations: annotations(1_000_000) } })),
  }),
  'a line of 20 MiB': () => ({ lines: 'x'.repeat(20 * 2 ** 20) }),
  'a list of 3,000 pods that have ended': () => ({
    lines: GONE,
    list: listOf(
      4 * FIRST,
      keys(3_000).map((name, index) => ended(name, 4 * FIRST + index)),
    ),
  }),
  'a list of 60 MiB that is no list': () => ({ lines: GONE, list: `[${'[],'.repeat(20 * 2 ** 20)}[]]` }),
  'a list without pods again': () => ({ lines: GONE, list: listOf(9 * FIRST, []) }),
};

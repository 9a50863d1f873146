import { formatManifestProblem, type ManifestProblem } from './manifest/manifest-problem.js';
import { type ManifestRules, readManifest } from './manifest/parse-manifest.js';
import { placePods } from './manifest/place-pods.js';
import { type Pod, podFullName, podRef } from './pod.js';
import { podSet, type SourceEvent, sourceProblem } from './pod-set.js';

/** One manifest file as a listing found it. `unchanged` means: as in the listing before. */
export interface ManifestFile {
  readonly file: string;
  readonly content:
    | { readonly kind: 'text'; readonly text: string }
    | { readonly kind: 'unchanged' }
    | { readonly kind: 'unreadable'; readonly message: string };
}

/** The manifests at a path, in the order in which they count. */
export type ManifestListing =
  | { readonly kind: 'files'; readonly files: readonly ManifestFile[] }
  | { readonly kind: 'missing' }
  /** Something is there, but nobody can say what is in it. */
  | { readonly kind: 'unreadable'; readonly message: string };

export interface ManifestFilesState {
  readonly pods: ReadonlyMap<string, readonly Pod[]>;
  /** Files that held something broken when they were last read. */
  readonly broken: ReadonlySet<string>;
  readonly listed: ManifestListing['kind'] | undefined;
  readonly hasSet: boolean;
}

export const NO_MANIFEST_FILES: ManifestFilesState = {
  pods: new Map(),
  broken: new Set(),
  listed: undefined,
  hasSet: false,
};

export interface ManifestPlace extends ManifestRules {
  /** The directory or file that is listed. */
  readonly path: string;
  readonly nodeName: string;
}

/**
 * What a listing changes: problems of the files that were read anew, then the set of pods if it is another one or the
 * first.
 *
 * A file that holds something broken keeps those of its pods that no good document of it stands for now, so that a slip of
 * the hand stops nothing; a file that is gone takes its pods along.
 *
 * Source: pkg/kubelet/config/file.go listConfig, which drops the pods of a broken file on its next poll instead.
 */
export const foldManifestListing = (
  state: ManifestFilesState,
  listing: ManifestListing,
  place: ManifestPlace,
): { readonly state: ManifestFilesState; readonly events: readonly SourceEvent[] } => {
  const isNews = state.listed !== listing.kind;
  if (listing.kind === 'unreadable') {
    const message = `${place.path}: ${listing.message}; its pods stay as they are`;
    const keeps = [...state.pods.values()].flat().map(podRef);
    const events = isNews ? [sourceProblem({ severity: 'error', message, from: place.path, keeps })] : [];
    return { state: { ...state, listed: listing.kind }, events };
  }
  const events: SourceEvent[] = [];
  const pods = new Map<string, readonly Pod[]>();
  const broken = new Set<string>();
  if (listing.kind === 'missing') {
    const message = `${place.path}: does not exist, so it holds no pods (expected a file or directory of manifests)`;
    if (isNews) events.push(sourceProblem({ severity: 'error', message, from: place.path }));
  } else {
    if (isNews && state.listed !== undefined) events.push(recovered(place.path));
    for (const { file, content } of listing.files) {
      const read = readFile(file, content, state.pods.get(file) ?? [], place);
      pods.set(file, read.pods);
      events.push(...read.events);
      const wasBroken = state.broken.has(file);
      if (read.isBroken ?? wasBroken) broken.add(file);
      else if (wasBroken) events.push(recovered(file));
    }
  }
  const next = { pods, broken, listed: listing.kind, hasSet: true };
  if (!state.hasSet || !isSameList(allPods(state.pods), allPods(pods))) events.push(podSet(allPods(pods)));
  return { state: next, events };
};

const allPods = (pods: ManifestFilesState['pods']): readonly Pod[] => [...pods.values()].flat();

const isSameList = (one: readonly Pod[], other: readonly Pod[]): boolean =>
  one.length === other.length && one.every((pod, index) => pod === other[index]);

interface FileReading {
  readonly pods: readonly Pod[];
  readonly events: readonly SourceEvent[];
  /** Undefined: as before. */
  readonly isBroken?: boolean;
}

const readFile = (
  file: string,
  content: ManifestFile['content'],
  before: readonly Pod[],
  place: ManifestPlace,
): FileReading => {
  if (content.kind === 'unchanged') return { pods: before, events: [] };
  if (content.kind === 'unreadable') {
    const problem = sourceProblem({ severity: 'error', message: `${file}: ${content.message}`, from: file });
    return { pods: before, events: [problem, ...keeping(file, before)], isBroken: true };
  }
  const reading = readManifest(content.text, { file }, place);
  const { pods, problems } = placePods(reading, { source: 'file', nodeName: place.nodeName, origin: file });
  const kept = problems.length === 0 ? [] : before.filter((pod) => !pods.some((good) => isSamePlace(good, pod)));
  return {
    pods: [...pods.map((pod) => before.find((old) => isEqualPod(old, pod)) ?? pod), ...kept],
    events: [...problems.map(manifestProblem), ...keeping(file, kept)],
    isBroken: problems.length > 0,
  };
};

export const manifestProblem = (problem: ManifestProblem): SourceEvent =>
  sourceProblem({ severity: 'error', message: formatManifestProblem(problem), from: problem.file, manifest: problem });

const recovered = (from: string): SourceEvent =>
  sourceProblem({ severity: 'info', message: `${from}: can be used again`, from });

const keeping = (file: string, kept: readonly Pod[]): readonly SourceEvent[] => {
  if (kept.length === 0) return [];
  const names = kept.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).join(', ');
  const message = `${file}: until this is repaired, ${names} ${kept.length === 1 ? 'stays' : 'stay'} as last read`;
  return [sourceProblem({ severity: 'warning', message, from: file, keeps: kept.map(podRef) })];
};

const isSamePlace = (one: Pod, other: Pod): boolean => podFullName(one) === podFullName(other);

/** Both come from the same reader, so that equal pods have their keys in the same order. */
const isEqualPod = (one: Pod, other: Pod): boolean => JSON.stringify(one) === JSON.stringify(other);

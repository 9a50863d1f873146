import { type Absences, foldAbsences, NO_ABSENCES } from './absences.js';
import { formatManifestProblem, type ManifestProblem } from '../manifest/manifest-problem.js';
import { type ManifestReading, type ManifestRules, readManifest } from '../manifest/parse-manifest.js';
import { placeObjects } from '../manifest/place-objects.js';
import { placePods } from '../manifest/place-pods.js';
import { foldDuplicates, type IgnoredPods, NO_IGNORED_PODS } from '../manifest/fold-duplicates.js';
import { uniquePods } from '../manifest/unique-pods.js';
import { type Pod, podFullName, podRef } from '../pod/pod.js';
import { partialPodSet, podSet, type SourceEvent, sourceProblem } from '../pod/pod-set.js';
import { type SourceObject, sourceObjectKey } from '../references/source-object.js';

/** One manifest file of a listing. */
export interface ManifestFile {
  readonly file: string;
  readonly content:
    /** Equal digests are equal texts; a text without a digest counts as changed. */
    | {
        readonly kind: 'text';
        readonly text: string;
        readonly digest?: string;
        /** The reading of the text, if a worker thread has parsed it already. */
        readonly reading?: ManifestReading;
      }
    /** The same content as in the listing before. */
    | { readonly kind: 'unchanged' }
    | {
        readonly kind: 'unreadable';
        readonly message: string;
        /** The machine could not read the file. The error reports nothing about the file: it may hold pods. */
        readonly isUnknown?: true;
      }
    /** A link to a file that does not exist. */
    | { readonly kind: 'dangling' }
    /** The folder has the name, and the file was missing when it was read, as in a folder that is just being replaced. */
    | { readonly kind: 'vanished' };
}

/** The manifests at a path, in their order of precedence. */
export type ManifestListing =
  | { readonly kind: 'files'; readonly files: readonly ManifestFile[] }
  | { readonly kind: 'missing' }
  /** The path exists, but cannot be read. */
  | { readonly kind: 'unreadable'; readonly message: string };

/** A file as it was last read. */
interface KnownFile {
  readonly pods: readonly Pod[];
  readonly objects: readonly SourceObject[];
  /** The file holds a document that cannot be used. */
  readonly isBroken: boolean;
  /** The file has never been read, and may hold pods. */
  readonly isUnknown?: true;
  /** Equal for equal contents; `undefined` if the contents are unknown. */
  readonly version: string | undefined;
}

export interface ManifestFilesState {
  readonly files: ReadonlyMap<string, KnownFile>;
  /** The absences of listed files, and of the path itself. */
  readonly absences: Absences;
  /** The last problem that was reported of the path as a whole. */
  readonly reported: 'missing' | 'unreadable' | undefined;
  readonly ignored: IgnoredPods;
  /** The last set. */
  readonly pods: readonly Pod[] | undefined;
  readonly objects: readonly SourceObject[];
  /** A file has never been read, so pods that all sets left out may be wanted. */
  readonly isPartial: boolean;
}

export const NO_MANIFEST_FILES: ManifestFilesState = {
  files: new Map(),
  absences: NO_ABSENCES,
  reported: undefined,
  ignored: NO_IGNORED_PODS,
  pods: undefined,
  objects: [],
  isPartial: true,
};

export interface ManifestPlace extends ManifestRules {
  /** The directory or file that is listed. */
  readonly path: string;
  readonly nodeName: string;
}

export interface FoldedListing {
  readonly state: ManifestFilesState;
  readonly events: readonly SourceEvent[];
  /** The milliseconds after which another listing can confirm an absence. */
  readonly againInMs: number | undefined;
}

/**
 * Returns the changes of a listing: problems of the files that were read again, then the set of pods and objects if it
 * is the first or has changed.
 *
 * A broken file keeps the pods and objects that none of its valid documents replaces, so that a typing error stops no pod. A
 * missing file removes its pods once its absence is confirmed: see `foldAbsences`. The same holds for the path as a
 * whole, even if it is missing from the start, since pods of an earlier agent may still run. The first sets are partial
 * while a file cannot be read, or is missing though the folder has its name.
 *
 * Source: pkg/kubelet/config/file.go listConfig, which removes the pods of a broken file on its next poll instead, and
 * does not confirm that a path is missing.
 */
export const foldManifestListing = (
  state: ManifestFilesState,
  listing: ManifestListing,
  place: ManifestPlace,
  now: number,
): FoldedListing => {
  if (listing.kind === 'unreadable') {
    const message = `${place.path}: ${listing.message}; its pods stay as they are`;
    const keeps = [...state.files.values()].flatMap(({ pods }) => pods).map(podRef);
    const problem = sourceProblem({ severity: 'error', message, from: place.path, keeps });
    // An unreadable path reports no absence: the next one has to be confirmed from the start.
    const next = { ...state, absences: NO_ABSENCES, reported: listing.kind };
    return { state: next, events: state.reported === 'unreadable' ? [] : [problem], againInMs: undefined };
  }
  const listed = listing.kind === 'missing' ? [] : listing.files;
  const { absences, gone, againInMs } = foldAbsences(state.absences, missingOf(state, listing, place), now);
  const events: SourceEvent[] = [];
  const files = new Map<string, KnownFile>();
  const found = new Map(listed.map(({ file, content }) => [file, content]));
  for (const file of [...new Set([...found.keys(), ...state.files.keys()])].sort(byCodeUnits)) {
    const before = state.files.get(file);
    const content = found.get(file);
    if (content && !isAbsent(content)) {
      const read = readFile(file, content, before ?? UNKNOWN, place);
      files.set(file, read.known);
      events.push(...read.events);
    } else if (content?.kind === 'dangling' && (gone.has(file) || before?.version === DANGLING.version)) {
      files.set(file, DANGLING);
      if (gone.has(file)) events.push(dangles(file));
    } else if (!gone.has(file) && (before || content)) files.set(file, before ?? { ...UNKNOWN, isUnknown: true });
  }
  const isMissingNews =
    listing.kind === 'missing' && state.reported !== 'missing' && (gone.has(place.path) || state.pods === undefined);
  if (isMissingNews) events.unshift(pathMissing(place.path));
  if (listing.kind === 'files' && state.reported) events.unshift(recovered(place.path));
  const reported = isMissingNews ? 'missing' : listing.kind === 'missing' ? state.reported : undefined;
  const inOrder = [...files].map(([file, { pods, objects }]) => ({
    ...{ file, pods, objects },
    isInDoubt: absences.has(file),
  }));
  const unique = uniquePods(inOrder, { pods: state.pods ?? [], objects: state.objects });
  const ignored = foldDuplicates(
    state.ignored,
    unique.duplicates,
    absences,
    (file) => files.get(file)?.isBroken === true,
  );
  events.push(...ignored.events);
  for (const file of troubledFiles(state)) {
    if (!files.has(file)) events.push(hasGone(file));
    else if (!files.get(file)?.isBroken && !ignored.ignored.has(file)) events.push(recovered(file));
  }
  const isFirst = state.pods === undefined && !absences.has(place.path);
  const isOther =
    state.pods !== undefined && !(isSameList(state.pods, unique.pods) && isSameList(state.objects, unique.objects));
  const isPartial = state.isPartial && [...files.values()].some(({ isUnknown }) => isUnknown);
  const isWhole = state.pods !== undefined && state.isPartial && !isPartial;
  const isNews = isFirst || isOther || isWhole;
  const { pods, objects } = unique;
  if (isNews) events.push(isPartial ? partialPodSet(pods, objects) : podSet(pods, objects));
  const { pods: oldPods, objects: oldObjects, isPartial: wasPartial } = state;
  const next = isNews ? { pods, objects, isPartial } : { pods: oldPods, objects: oldObjects, isPartial: wasPartial };
  return { state: { files, absences, reported, ignored: ignored.ignored, ...next }, events, againInMs };
};

const UNKNOWN: KnownFile = { pods: [], objects: [], isBroken: false, version: undefined };
const DANGLING: KnownFile = { pods: [], objects: [], isBroken: true, version: 'dangling' };

const byCodeUnits = (one: string, other: string): number => (one < other ? -1 : 1);

const missingOf = (state: ManifestFilesState, listing: ManifestListing, { path }: ManifestPlace): Iterable<string> => {
  if (listing.kind !== 'files') {
    const isReported = state.reported === 'missing' && state.pods !== undefined;
    return new Set([...state.files.keys(), ...(isReported ? [] : [path])]);
  }
  const listed = new Set(listing.files.map(({ file }) => file));
  const known = [...state.files.keys()].filter((file) => !listed.has(file));
  const absent = listing.files.filter(
    ({ file, content }) =>
      isAbsent(content) &&
      // A dangling link is reported once.
      !(content.kind === 'dangling' && state.files.get(file)?.version === DANGLING.version),
  );
  return [...known, ...absent.map(({ file }) => file)];
};

type Absent = Extract<ManifestFile['content'], { readonly kind: 'dangling' | 'vanished' }>;

const isAbsent = (content: ManifestFile['content']): content is Absent =>
  content.kind === 'dangling' || content.kind === 'vanished';

const isSameList = (one: readonly object[], other: readonly object[]): boolean =>
  one.length === other.length && one.every((item, index) => item === other[index]);

const readFile = (
  file: string,
  content: Exclude<ManifestFile['content'], Absent>,
  before: KnownFile,
  place: ManifestPlace,
): { readonly known: KnownFile; readonly events: readonly SourceEvent[] } => {
  const version = versionOf(content);
  if (content.kind === 'unchanged' || (version !== undefined && version === before.version)) {
    return { known: before, events: [] };
  }
  if (content.kind === 'unreadable') {
    const problem = sourceProblem({ severity: 'error', message: `${file}: ${content.message}`, from: file });
    const isUnknown = content.isUnknown && (before === UNKNOWN || before.isUnknown);
    return {
      known: { pods: before.pods, objects: before.objects, isBroken: true, version, ...(isUnknown && { isUnknown }) },
      events: oneAnswer([problem, ...keeping(file, before.pods, before.objects)]),
    };
  }
  const reading = content.reading ?? readManifest(content.text, { file }, place);
  const placed = placePods(reading, { source: 'file', nodeName: place.nodeName, origin: file });
  const { pods } = placed;
  const { objects, problems: changes } = placeObjects(reading, file, before.objects);
  const problems = [...placed.problems, ...changes];
  const isBroken = problems.length > 0;
  const [places, names] = [new Set(pods.map(podFullName)), new Set(objects.map(sourceObjectKey))];
  const kept = isBroken ? before.pods.filter((pod) => !places.has(podFullName(pod))) : [];
  const keptObjects = isBroken ? before.objects.filter((object) => !names.has(sourceObjectKey(object))) : [];
  const known = new Map(before.pods.map((pod) => [pod.metadata.uid, pod]));
  return {
    known: {
      pods: [...pods.map((pod) => sameAs(known.get(pod.metadata.uid), pod)), ...kept],
      objects: [...objects, ...keptObjects],
      isBroken,
      version,
    },
    events: oneAnswer([...manifestProblems(problems), ...keeping(file, kept, keptObjects)]),
  };
};

/**
 * The pod as it was read before, if nothing of it has changed. The same reader made both, so that equal pods have their keys in the same
 * order. An edited pod has another UID, unless its author gave it one.
 */
const sameAs = (before: Pod | undefined, pod: Pod): Pod =>
  before && JSON.stringify(before) === JSON.stringify(pod) ? before : pod;

const versionOf = (content: ManifestFile['content']): string | undefined => {
  if (content.kind === 'text') return content.digest === undefined ? undefined : `text ${content.digest}`;
  if (content.kind !== 'unreadable') return undefined;
  return `${content.isUnknown ? 'unknown' : 'unreadable'} ${content.message}`;
};

/** Marks every problem after the first as an addition to it. */
export const oneAnswer = (events: readonly SourceEvent[]): readonly SourceEvent[] =>
  events.map((event, index) =>
    index === 0 || event.kind !== 'problem' ? event : sourceProblem({ ...event.problem, continues: true }),
  );

/** The most problems of one text, and pods of one file, that are reported one by one. */
const MAX_REPORTED = 20;

/**
 * Returns the problems of one text, cut off at a limit: a text that is not a manifest may have a very large number of
 * them.
 */
export const manifestProblems = (problems: readonly ManifestProblem[]): readonly SourceEvent[] => {
  const reported = problems.slice(0, MAX_REPORTED).map(manifestProblem);
  const [first] = problems;
  if (!first || problems.length <= MAX_REPORTED) return reported;
  const message = `${first.file}: and ${problems.length - MAX_REPORTED} more problems; \`rx-kubelet validate\` prints all of them`;
  return [...reported, sourceProblem({ severity: 'error', message, from: first.file })];
};

const manifestProblem = (problem: ManifestProblem): SourceEvent =>
  sourceProblem({ severity: 'error', message: formatManifestProblem(problem), from: problem.file, manifest: problem });

const pathMissing = (path: string): SourceEvent =>
  sourceProblem({
    severity: 'error',
    message: `${path}: does not exist, so it holds no pods (expected a file or directory of manifests)`,
    from: path,
  });

const dangles = (file: string): SourceEvent =>
  sourceProblem({ severity: 'error', message: `${file}: ${DANGLING_LINK}`, from: file });

/** The problem of a folder entry that is a dangling link. */
export const DANGLING_LINK = 'is a link to something that does not exist (expected a manifest)';

const recovered = (from: string): SourceEvent =>
  sourceProblem({ severity: 'info', message: `${from}: can be used again`, from });

/** The file is gone, so that no problem is left to repair. */
const hasGone = (from: string): SourceEvent =>
  sourceProblem({ severity: 'info', message: `${from}: was removed, together with its problem`, from });

/** The files with a reported problem that a recovery has to revoke. */
const troubledFiles = ({ files, ignored }: ManifestFilesState): readonly string[] =>
  [...files].filter(([file, { isBroken }]) => isBroken || ignored.has(file)).map(([file]) => file);

const keeping = (file: string, kept: readonly Pod[], objects: readonly SourceObject[]): readonly SourceEvent[] => {
  const all = [
    ...kept.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`),
    ...objects.map(sourceObjectKey),
  ];
  if (all.length === 0) return [];
  const names =
    all.slice(0, MAX_REPORTED).join(', ') + (all.length > MAX_REPORTED ? ` and ${all.length - MAX_REPORTED} more` : '');
  const message = `${file}: until this is repaired, ${names} ${all.length === 1 ? 'stays' : 'stay'} as last read`;
  return [sourceProblem({ severity: 'warning', message, from: file, keeps: kept.map(podRef) })];
};

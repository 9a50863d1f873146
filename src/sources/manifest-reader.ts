import { existsSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { asyncScheduler, defer, firstValueFrom, Observable, type SchedulerLike } from 'rxjs';
import { keptProgram } from '../processes/kept-program.js';
import { errorText } from '../model/cri/cri-error.js';
import type { ManifestFile, ManifestListing } from '../model/config/fold-manifest-listing.js';
import {
  type ManifestOrigin,
  type ManifestReading,
  type ManifestRules,
  readManifest,
} from '../model/manifest/parse-manifest.js';
import { boundedReading, NoReader } from './bounded-reading.js';

export interface ReadingJob {
  readonly text: string;
  readonly origin: ManifestOrigin;
  readonly rules: ManifestRules;
}

export type ReadText = (text: string, origin: ManifestOrigin) => Promise<ManifestReading>;

/** The limit for texts that are parsed on the thread of the agent, which takes some milliseconds at most. */
const MOST_CHARACTERS = 16 * 1024;

/** A text of the largest size needs a fraction of this memory. */
const WORKER_LIMITS = { maxOldGenerationSizeMb: 1024 };

/**
 * Parses the texts of manifests without blocking the thread of the agent: a large text in a thread of its own, other
 * texts with a pause before each.
 *
 * Errors: `NoReader`; a text that exceeds the limits of time or memory is a problem.
 */
export const manifestReader =
  (rules: ManifestRules, scheduler: SchedulerLike = asyncScheduler, worker = builtWorker()): ReadText =>
  async (text, origin) => {
    await setImmediate();
    const isShort = text.length <= MOST_CHARACTERS || !worker;
    const reading$ = isShort
      ? defer(() => [readManifest(text, origin, rules)])
      : inWorker(worker, { text, origin, rules });
    return firstValueFrom(reading$.pipe(boundedReading(origin.file, scheduler)));
  };

/** In the library the worker is beside this module. */
const builtWorker = (): URL | undefined =>
  keptProgram('manifest-worker.js') ??
  ['./manifest-worker.js', '../manifest-worker.js']
    .map((path) => new URL(path, import.meta.url))
    .find((url) => url.protocol === 'file:' && existsSync(fileURLToPath(url)));

const inWorker = (url: URL, job: ReadingJob): Observable<ManifestReading> =>
  new Observable((subscriber) => {
    const worker = newWorker(url, job);
    worker.on('message', (reading: ManifestReading) => {
      subscriber.next(reading);
      subscriber.complete();
    });
    worker.on('error', (error) => subscriber.error(error));
    worker.on('exit', (code) => subscriber.error(new Error(`the thread that reads it ended with code ${code}`)));
    return () => void worker.terminate();
  });

const newWorker = (url: URL, job: ReadingJob): Worker => {
  try {
    return new Worker(url, { workerData: job, resourceLimits: WORKER_LIMITS });
  } catch (error) {
    throw new NoReader(`cannot be read now: ${errorText(error)}`, { cause: error });
  }
};

/**
 * Lists the manifests with their texts parsed. A text without a reader is parsed at the next listing, even if the file
 * is unchanged. The listing comes a turn of the loop after the last reading, since a large one takes a while to arrive from its thread.
 */
export const readListing = (list: () => Promise<ManifestListing>, read: ReadText): (() => Promise<ManifestListing>) => {
  let unread = new Map<string, TextContent>();
  return async () => {
    const listing = await list();
    if (listing.kind !== 'files') return listing;
    const waiting = unread;
    unread = new Map();
    const files: ManifestFile[] = [];
    for (const { file, content } of listing.files) {
      const text = content.kind === 'unchanged' ? waiting.get(file) : content;
      if (text?.kind !== 'text') {
        files.push({ file, content });
        continue;
      }
      try {
        files.push({ file, content: { ...text, reading: await read(text.text, { file }) } });
      } catch (error) {
        unread.set(file, text);
        files.push({ file, content: { kind: 'unreadable', message: errorText(error), isUnknown: true } });
      }
    }
    await setImmediate();
    return { kind: 'files', files };
  };
};

type TextContent = Extract<ManifestFile['content'], { readonly kind: 'text' }>;

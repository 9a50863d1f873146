import { parentPort, workerData } from 'node:worker_threads';
import { readManifest } from '../model/manifest/parse-manifest.js';
import type { ReadingJob } from './manifest-reader.js';

/** A thread for one text: it parses the text, replies, and ends. */
const { text, origin, rules } = workerData as ReadingJob;
parentPort?.postMessage(readManifest(text, origin, rules));

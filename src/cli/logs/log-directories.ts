import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  containerLogDirectory,
  containerLogPath,
  instancesWithLogs,
  podLogDirectory,
  podOfLogDirectory,
} from '../../model/cri/log-paths.js';
import type { PodRef } from '../../model/pod/pod.js';
import { isAbsence } from '../../model/values/file-error.js';

/** Returns the pods that have a folder of logs. Errors: the folder cannot be read. */
export const podsWithLogs = async (podLogsDir: string): Promise<readonly PodRef[]> =>
  (await namesIn(podLogsDir)).flatMap((name) => podOfLogDirectory(name) ?? []);

/** Returns the names of the containers that have a log. */
export const containersWithLogs = async (podLogsDir: string, pod: PodRef): Promise<readonly string[]> => {
  const names = await namesIn(podLogDirectory(podLogsDir, pod));
  const counts = await Promise.all(names.map((name) => instancesOf(podLogsDir, pod, name)));
  return names.filter((_, index) => counts[index]!.length > 0);
};

/** Returns the pod whose logs were written to most recently: a pod of the same name may have been replaced. */
export const newestPod = async (podLogsDir: string, pods: readonly [PodRef, ...PodRef[]]): Promise<PodRef> => {
  if (pods.length === 1) return pods[0];
  const times = await Promise.all(pods.map((pod) => lastWrite(podLogsDir, pod)));
  return pods[times.indexOf(Math.max(...times))] ?? pods[0];
};

const lastWrite = async (podLogsDir: string, pod: PodRef): Promise<number> => {
  const containers = await namesIn(podLogDirectory(podLogsDir, pod));
  const times = containers.map(async (container) => {
    const folder = containerLogDirectory(podLogsDir, pod, container);
    const files = await namesIn(folder);
    return Promise.all(files.map((file) => modifiedAt(join(folder, file))));
  });
  return Math.max(0, ...(await Promise.all(times)).flat());
};

/**
 * Returns the log of the newest instance of a container, or of the one before it, and the restart count of that instance.
 *
 * Errors: there is none.
 */
export const logPathByFiles = async (
  podLogsDir: string,
  pod: PodRef,
  container: string,
  previous: boolean,
): Promise<{ readonly path: string; readonly restartCount: number }> => {
  const restartCount = (await instancesOf(podLogsDir, pod, container))[previous ? 1 : 0];
  if (restartCount === undefined) {
    const where = `container ${JSON.stringify(container)} in pod ${JSON.stringify(pod.name)}`;
    throw new Error(previous ? `previous terminated ${where} not found` : `${where} is not available`);
  }
  return { path: `${podLogDirectory(podLogsDir, pod)}/${containerLogPath(container, restartCount)}`, restartCount };
};

const instancesOf = async (podLogsDir: string, pod: PodRef, container: string): Promise<readonly number[]> =>
  instancesWithLogs(await namesIn(containerLogDirectory(podLogsDir, pod, container)));

const namesIn = async (directory: string): Promise<readonly string[]> => {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isAbsence(error)) return [];
    throw error;
  }
};

const modifiedAt = async (path: string): Promise<number> => {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (isAbsence(error)) return 0;
    throw error;
  }
};

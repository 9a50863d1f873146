import { isAbsence } from '../../model/values/file-error.js';

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code;

export const hasCode = (error: unknown, ...codes: readonly string[]): boolean => codes.includes(codeOf(error) ?? '');

/** Resolves with undefined if there is no such file. */
export const ifThere = <T>(result: Promise<T>): Promise<T | undefined> =>
  result.catch((error: unknown) => {
    if (isAbsence(error)) return undefined;
    throw error;
  });

/** Resolves if the call fails with one of these codes. */
export const unless = <T>(result: Promise<T>, ...codes: readonly string[]): Promise<T | undefined> =>
  result.catch((error: unknown) => {
    if (hasCode(error, ...codes)) return undefined;
    throw error;
  });

/** Rethrows errors of Node with the path that `alias` stands for, such as `/proc/self/fd/7`. */
export const namingPath = async <T>(work: Promise<T>, alias: string, path: string): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error) error.message = error.message.replaceAll(alias, path);
    throw error;
  }
};

import { CreateContainerConfigError } from './create-container-config-error.js';
import { goQuote } from './go-quote.js';

/** The value of a variable: a text, or bytes that are not UTF-8. */
export type EnvValue = string | Uint8Array;

/** Returns the bytes as a text if they are one. */
export const envValue = (bytes: Uint8Array): EnvValue => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return bytes;
  }
};

/** Returns the values in one. Bytes may be part of a character, and a text together. */
export const joinedValues = (values: readonly EnvValue[]): EnvValue =>
  values.every((value) => typeof value === 'string')
    ? values.join('')
    : envValue(Buffer.concat(values.map((value) => Buffer.from(value))));

/**
 * Returns the value of the variable for a place that can only hold text. CRI has commands, arguments and paths as text; a
 * runtime would get other bytes than the value has.
 *
 * Errors: `CreateContainerConfigError` for bytes that are not UTF-8.
 */
export const textValue = (name: string, value: EnvValue | undefined): string | undefined => {
  if (value === undefined || typeof value === 'string') return value;
  throw new CreateContainerConfigError(
    `variable ${goQuote(name)} is not UTF-8 text, which a command, an argument or a path has to be`,
  );
};

/**
 * Returns the variable for the runtime.
 *
 * Errors: `CreateContainerConfigError` for a NUL byte, at which the environment of a process would end.
 */
export const criVariable = ([name, value]: readonly [string, EnvValue]): { key: string; value: Buffer } => {
  const bytes = Buffer.from(value);
  if (!bytes.includes(0)) return { key: name, value: bytes };
  throw new CreateContainerConfigError(
    `variable ${goQuote(name)} contains a NUL byte, which the environment of a process cannot hold`,
  );
};

import { isUtf8 } from 'node:buffer';

/** A path in which each character is one byte: the names of Linux are bytes, and not always UTF-8. */
export type BytePath = string;

export const bytePath = (text: string): BytePath => Buffer.from(text).toString('latin1');

/** The path as the calls of the file system take it. */
export const osPath = (path: BytePath): Buffer => Buffer.from(path, 'latin1');

/** The path in quotes, for messages. In a path that is not UTF-8 the bytes above ASCII stand as `\xNN`. */
export const shownPath = (path: BytePath): string => {
  const bytes = osPath(path);
  if (isUtf8(bytes)) return JSON.stringify(bytes.toString());
  return JSON.stringify(path).replaceAll(/[^ -~]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`);
};

/** An error of a call of the file system without its path, in which Node replaces the bytes that are not UTF-8. */
export const callError = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === undefined ? message : (message.split(" '")[0] ?? message);
};

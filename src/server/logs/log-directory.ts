import type { Dirent } from 'node:fs';
import { type FileHandle, readdir } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { posix } from 'node:path';
import { finished, pipeline } from 'node:stream/promises';
import { defer, firstValueFrom } from 'rxjs';
import { byteRange } from '../../model/server/byte-range.js';
import { directoryPage } from '../../model/server/directory-page.js';
import { isAbsence } from '../../model/values/file-error.js';
import { limitByKey } from '../../streams/operators/limit-by-key.js';
import { type Answer, send } from '../routes/http-routes.js';
import { openBelow } from './open-below.js';

/** Replies with the file or folder at a decoded path below the directory of logs. */
export type ServeLogFile = (path: string, request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The replies that are under way at a time; the kubelet has no limit. */
const MOST_REPLIES = 20;
/** The bytes that decide whether a file is text. */
const SNIFFED_BYTES = 512;

const MISSING: Answer = { status: 404, body: '404 page not found\n' };
const FORBIDDEN: Answer = { status: 403, body: '403 Forbidden\n' };

/**
 * Serves the files below a directory, with listings of folders and with ranges. A link that leads out of the directory
 * is not followed, unlike upstream: a pod that can write logs could read every file of the node by it.
 *
 * Source: pkg/kubelet/kubelet.go initializeModules, with the file server of Go
 */
export const logDirectory = (directory: string): ServeLogFile => {
  const limited = limitByKey({
    ...{ inAll: MOST_REPLIES, perKey: MOST_REPLIES },
    tooMany: () => new TooManyReplies('too many files are read already'),
  });
  return (path, request, response) =>
    firstValueFrom(defer(() => serve(directory, path, request, response)).pipe(limited('files')))
      .catch((error: unknown) => send(response, refusalOf(error)))
      .then(() => undefined);
};

class TooManyReplies extends Error {}

const refusalOf = (error: unknown): Answer => {
  if (error instanceof TooManyReplies) return { status: 429, body: `${error.message}\n` };
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM') return FORBIDDEN;
  // A link to itself, a name that is too long, and one with a zero byte.
  if (isAbsence(error) || ['ELOOP', 'ENAMETOOLONG', 'ENXIO', 'ERR_INVALID_ARG_VALUE'].includes(code ?? ''))
    return MISSING;
  return { status: 500, body: '500 Internal Server Error\n' };
};

const serve = async (
  directory: string,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  // From a root, `..` does not lead out of it.
  const asked = posix.normalize(`/${path}`);
  const opened = await openBelow(directory, asked);
  if (!opened) return send(response, MISSING);
  const { handle, target } = opened;
  try {
    const status = await handle.stat();
    const isFolder = asked.endsWith('/');
    if (status.isDirectory()) {
      return isFolder ? await sendFolder(target, response) : redirect(`${nameOf(asked)}/`, response);
    }
    if (!status.isFile()) return send(response, MISSING);
    if (isFolder) return redirect(`../${nameOf(asked)}`, response);
    await sendFile(handle, { size: status.size, modifiedAt: status.mtime, name: target }, request, response);
  } finally {
    await handle.close();
  }
};

const nameOf = (path: string): string => encodeURIComponent(posix.basename(path));

const redirect = (to: string, response: ServerResponse): void => {
  response.setHeader('Location', to);
  send(response, { status: 301, body: '' });
};

const sendFolder = async (folder: string, response: ServerResponse): Promise<void> => {
  const entries = await readdir(folder, { withFileTypes: true });
  const listed = (entry: Dirent): string => (entry.isDirectory() ? `${entry.name}/` : entry.name);
  send(response, { status: 200, type: 'text/html; charset=utf-8', body: directoryPage(entries.map(listed)) });
};

interface LogFile {
  readonly size: number;
  readonly modifiedAt: Date;
  readonly name: string;
}

const sendFile = async (
  handle: FileHandle,
  { size, modifiedAt, name }: LogFile,
  { headers }: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const modified = modifiedAt.toUTCString();
  response.setHeader('Last-Modified', modified);
  response.setHeader('Accept-Ranges', 'bytes');
  const since = Date.parse(headers['if-modified-since'] ?? '');
  if (Math.floor(modifiedAt.getTime() / 1_000) * 1_000 <= since) {
    response.writeHead(304).end();
    return;
  }
  const isSame = headers['if-range'] === undefined || headers['if-range'] === modified;
  const range = byteRange(isSame ? headers.range : undefined, size);
  if (range.kind === 'unsatisfiable') {
    response.setHeader('Content-Range', `bytes */${size}`);
    return send(response, { status: 416, body: 'invalid range: failed to overlap\n' });
  }
  const { first, last } = range.kind === 'part' ? range : { first: 0, last: size - 1 };
  if (range.kind === 'part') response.setHeader('Content-Range', `bytes ${first}-${last}/${size}`);
  const length = last - first + 1;
  response.writeHead(range.kind === 'part' ? 206 : 200, {
    'Content-Type': await typeOf(handle, name),
    'Content-Length': length,
    'X-Content-Type-Options': 'nosniff',
  });
  if (length === 0) return void response.end();
  const reading = handle.createReadStream({ start: first, end: last, autoClose: false });
  try {
    await pipeline(reading, response, { end: false });
  } catch {
    // The client has gone, or the file cannot be read: the reply is not complete.
    response.destroy();
    return;
  }
  // A file that has shrunk has too few bytes, for which the client would wait.
  if (reading.bytesRead < length) response.destroy();
  else {
    response.end();
    await finished(response).catch(() => undefined);
  }
};

/** Text is never HTML: a pod may have written it. */
const typeOf = async (handle: FileHandle, name: string): Promise<string> => {
  if (name.endsWith('.gz')) return 'application/gzip';
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(SNIFFED_BYTES), 0, SNIFFED_BYTES, 0);
  // The bytes that text does not have. Source: net/http sniff.go of Go
  const isBinary = /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]/.test(buffer.subarray(0, bytesRead).toString('latin1'));
  return isBinary ? 'application/octet-stream' : 'text/plain; charset=utf-8';
};

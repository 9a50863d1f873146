import type { ServerResponse } from 'node:http';
import { fromEvent, lastValueFrom, type Observable, takeUntil } from 'rxjs';
import type { CommandReply } from '../../streams/ports/container-command.js';

/** Sends the reply; a client that disconnects ends the work for it. */
export const sendReply = async (reply$: Observable<CommandReply>, response: ServerResponse): Promise<void> => {
  if (response.destroyed) return;
  const answer = await lastValueFrom(reply$.pipe(takeUntil(fromEvent(response, 'close'))), {
    defaultValue: undefined,
  });
  if (!answer) return;
  const { status, type = 'text/plain; charset=utf-8', body } = answer;
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(body);
};

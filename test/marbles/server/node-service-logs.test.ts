import { EMPTY, map, NEVER, of, throwError } from 'rxjs';
import { describe, it } from 'vitest';
import type { PodLogReply } from '../../../src/streams/ports/read-pod-log.js';
import { nodeServiceLogs, type NodeServiceLogsOptions } from '../../../src/streams/server/node-service-logs.js';
import { marbles } from '../marbles.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const shown = (reply: PodLogReply): string => {
  if (reply.kind === 'output') return new TextDecoder().decode(reply.bytes);
  return reply.kind === 'refused' ? `${reply.status} ${reply.text}` : reply.kind;
};
const absence = Object.assign(new Error('no file'), { code: 'ENOENT' });

const reader = ({
  scheduler,
  ...over
}: Partial<NodeServiceLogsOptions> & Pick<NodeServiceLogsOptions, 'scheduler'>) => {
  const read = nodeServiceLogs({
    journal: { units: () => of(new Set(['known.service'])), read: (args) => of(bytes(args.at(-1) ?? '')) },
    files: () => throwError(() => absence),
    ...over,
    scheduler,
  });
  return (services: readonly string[], options = {}) => read({ services, options }, () => EMPTY).pipe(map(shown));
};

describe('the logs of services', () => {
  it(
    'come from the journal for its units, then from the first file of a name',
    marbles(({ scheduler, expectObservable }) => {
      const read = reader({
        scheduler,
        files: (path) => (path === 'filed/filed.log' ? of(bytes('from a file')) : throwError(() => absence)),
      });
      expectObservable(read(['filed', 'known'])).toBe('(ajf|)', { a: 'accepted', j: '--unit=known', f: 'from a file' });
      expectObservable(read(['known', 'none'])).toBe('(ajn|)', {
        a: 'accepted',
        j: '--unit=known',
        n: '\nlog not found for none\n',
      });
      expectObservable(read(['known', 'filed'], { boot: 0 })).toBe('(ajo|)', {
        a: 'accepted',
        j: '--boot=0',
        o: '\noptions present and query resolved to log files for [filed]\ntry without specifying options\n',
      });
    }),
  );

  it(
    'name a missing journal, and a file that cannot be read',
    marbles(({ scheduler, expectObservable }) => {
      const journal = {
        units: () => throwError(() => new Error('spawn journalctl ENOENT')),
        read: () => throwError(() => new Error('gone')),
      };
      expectObservable(reader({ scheduler, journal })(['known'])).toBe('(an|)', {
        a: 'accepted',
        n: '\nlog not found for known\nthe journal is not available: spawn journalctl ENOENT\n',
      });
      const files = () => throwError(() => new Error('EIO: i/o error'));
      expectObservable(reader({ scheduler, files })(['x'])).toBe('(ae|)', {
        a: 'accepted',
        e: '\nerror getting log for x: EIO: i/o error\n',
      });
    }),
  );

  it(
    'end after thirty seconds, and say so',
    marbles(({ scheduler, cold, expectObservable, expectSubscriptions }) => {
      const output = cold('x', { x: bytes('line') });
      const journal = { units: () => of(new Set(['known.service'])), read: () => output };
      expectObservable(reader({ scheduler, journal })(['known'])).toBe('(ax) 29996ms (l|)', {
        a: 'accepted',
        x: 'line',
        l: '\nerror: the log was not read completely within 30 s\n',
      });
      expectSubscriptions(output.subscriptions).toBe('^ 29999ms !');
    }),
  );

  it(
    'are read for five clients at a time; one that leaves makes room',
    marbles(({ scheduler, expectObservable }) => {
      const read = reader({ scheduler, files: () => NEVER });
      for (let client = 0; client < 4; client += 1)
        expectObservable(read(['x']), '^ 99ms !').toBe('a', { a: 'accepted' });
      expectObservable(read(['x']), '^ 9ms !').toBe('a', { a: 'accepted' });
      expectObservable(read(['x']), '5ms ^ 94ms !').toBe('5ms (r|)', { r: '429 too many logs are read already\n' });
      expectObservable(read(['x']), '20ms ^ 79ms !').toBe('20ms a', { a: 'accepted' });
    }),
  );
});

import { map, type Observable, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Container } from '../../../src/model/pod/pod.js';
import type { Logger } from '../../../src/streams/ports/logger.js';
import { readEnvFiles } from '../../../src/streams/volumes/read-env-files.js';
import { aPod } from '../../support/a-pod.js';
import { only } from '../../support/sync-context.js';
import { marbles } from '../marbles.js';

const key = (volumeName: string, path: string, name: string, optional?: boolean) => ({
  name,
  valueFrom: { fileKeyRef: { volumeName, path, key: name, ...(optional !== undefined && { optional }) } },
});
const DIRECTORY = '/root/pods/u/volumes/kubernetes.io~empty-dir';

/** Reads the env files of a container. Each file of the disk takes its time. */
const reading = (
  env: Container['env'],
  disk: Readonly<Record<string, Observable<string>>>,
  isMounted: (volume: string) => boolean = () => true,
) => {
  const logged: object[] = [];
  const read$ = readEnvFiles(
    aPod({ uid: 'u' }),
    { name: 'main', env },
    {
      volumeFiles: {
        read: (directory, path, maxBytes) => {
          expect(maxBytes).toBe(262_144);
          const content$ = disk[`${directory}/${path}`] ?? throwError(() => new Error(`ENOENT: ${path}`));
          return content$.pipe(map((text) => new TextEncoder().encode(text)));
        },
      },
      rootDirectory: '/root',
      isMounted,
      log: only<Logger>({ warn: (fields) => void logged.push(fields) }),
    },
  );
  const found$ = read$.pipe(
    map((files) =>
      Object.fromEntries(
        [...files].map(([id, { path, values, problem }]) => [id, [path, Object.fromEntries(values), problem]]),
      ),
    ),
  );
  return { found$, logged };
};

describe('the env files of a container', () => {
  it(
    'are read once each, one after the other, and parsed',
    marbles(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
      const one = cold('  ---(f|)       ', { f: "A='1'\nB='2'\n" });
      const other = cold('--(f|)        ', { f: "C='3'\n" });
      const expected = '  -----(e|)     ';
      const { found$, logged } = reading(
        [key('v', 'env', 'A'), key('w', 'deep/env', 'C'), key('v', 'env', 'B'), { name: 'D', value: 'plain' }],
        { [`${DIRECTORY}/v/env`]: one, [`${DIRECTORY}/w/deep/env`]: other },
      );
      const e = {
        'v/env': [`${DIRECTORY}/v/env`, { A: '1', B: '2' }, undefined],
        'w/deep/env': [`${DIRECTORY}/w/deep/env`, { C: '3' }, undefined],
      };
      expectObservable(found$).toBe(expected, { e });
      expectSubscriptions(one.subscriptions).toBe('  ^--!');
      expectSubscriptions(other.subscriptions).toBe('---^-!');
      scheduler.flush();
      expect(logged).toEqual([]);
    }),
  );

  it(
    'are none of volumes that are not mounted, and of variables with a value',
    marbles(({ expectObservable }) => {
      const env = [key('v', 'env', 'A'), { ...key('w', 'env', 'B'), value: 'plain' }];
      expectObservable(reading(env, {}, () => false).found$).toBe('(e|)', { e: {} });
      expectObservable(reading([env[1]!], {}).found$).toBe('(e|)', { e: {} });
    }),
  );

  it(
    'have their problem, which is logged without their text where a key is missing for it',
    marbles(({ cold, scheduler, expectObservable }) => {
      const broken = "A='hunter2'\nB=hunter3\n";
      const path = `${DIRECTORY}/v/env`;
      const problem = 'line 2: expected a value in single quotes';
      const e = { 'v/env': [path, { A: 'hunter2' }, problem] };
      const fine = reading([key('v', 'env', 'A')], { [path]: cold('(f|)', { f: broken }) });
      expectObservable(fine.found$).toBe('(e|)', { e });
      const lacking = reading([key('v', 'env', 'A'), key('v', 'env', 'C', true)], {
        [path]: cold('(f|)', { f: broken }),
      });
      expectObservable(lacking.found$).toBe('(e|)', { e });
      const missing = reading([key('v', 'env', 'A', true)], {});
      expectObservable(missing.found$).toBe('(e|)', { e: { 'v/env': [path, {}, 'ENOENT: env'] } });
      scheduler.flush();
      expect(fine.logged).toEqual([]);
      expect(lacking.logged).toMatchObject([{ container: 'main', file: 'v/env', error: problem }]);
      expect(missing.logged).toMatchObject([{ file: 'v/env', error: 'ENOENT: env' }]);
      expect(JSON.stringify([lacking.logged, missing.logged])).not.toContain('hunter');
    }),
  );

  it(
    'are no longer read once the sync is cancelled',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const slow = cold('--------(f|)', { f: '' });
      const { found$ } = reading([key('v', 'env', 'A')], { [`${DIRECTORY}/v/env`]: slow });
      expectObservable(found$, '                 ---!').toBe('----');
      expectSubscriptions(slow.subscriptions).toBe('^--!');
    }),
  );
});

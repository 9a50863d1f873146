import { ignoreElements, type Observable, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ApiObject } from '../../../src/model/kube-api/api-object.js';
import type { Secret } from '../../../src/model/references/referenced-object.js';
import { objectKeeper } from '../../../src/streams/references/kept-objects.js';
import { memoryLastKnown } from '../../support/memory-last-known.js';
import { inTurn, marbles } from '../marbles.js';

const aSecret = (resourceVersion: string, uid = 'u'): Secret => ({ metadata: { uid, resourceVersion } });

const stageOf = (before: Readonly<Record<string, ApiObject>> = {}, writing$?: Observable<never>) => {
  const disk = memoryLastKnown(before, writing$);
  const logged: string[] = [];
  const say = (level: string) => (_: object, message: string) => logged.push(`${level} ${message}`);
  const keeper = objectKeeper(disk, {
    ...{ debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') },
  });
  return { ...disk, disk, logged, keeper, secrets: keeper.of<Secret>('Secret') };
};

describe('an object that is kept', () => {
  it(
    'is written when it is new or has changed, and is there until it is dropped',
    marbles(({ expectObservable, scheduler }) => {
      const { keeper, secrets, did } = stageOf();
      expectObservable(keeper.run$, '---!').toBe('');
      scheduler.schedule(() => {
        secrets.keep('ns', 's', aSecret('1'));
        secrets.keep('ns', 's', aSecret('1'));
        secrets.keep('ns', 's', aSecret('2'));
        // The same version of another life of that name.
        secrets.keep('ns', 's', aSecret('2', 'v'));
        expect(secrets.get('ns', 's')?.metadata.uid).toBe('v');
        secrets.drop('ns', 's');
        expect(secrets.get('ns', 's')).toBeUndefined();
        expect(did).toEqual([
          'write Secret ns/s 1',
          'write Secret ns/s 2',
          'write Secret ns/s 2',
          'remove Secret ns/s',
        ]);
      }, 1);
    }),
  );

  it(
    'may be known before anything is written, and what was kept before does not stand against it',
    marbles(({ expectObservable, scheduler }) => {
      const { keeper, secrets, did } = stageOf({ 'Secret ns/s': aSecret('1'), 'Secret ns/gone': aSecret('1') });
      expect(secrets.get('ns', 's')).toBeUndefined();
      secrets.keep('ns', 's', aSecret('2'));
      secrets.drop('ns', 'gone');
      expectObservable(keeper.run$, '---!').toBe('');
      scheduler.schedule(() => {
        expect(secrets.get('ns', 's')?.metadata.resourceVersion).toBe('2');
        expect(secrets.get('ns', 'gone')).toBeUndefined();
        expect(did).toEqual(['write Secret ns/s 2', 'remove Secret ns/gone']);
      }, 1);
    }),
  );

  it(
    'is known to the next agent, which drops the objects of that kind that no pod wants',
    marbles(({ expectObservable, scheduler }) => {
      const before = { 'Secret ns/s': aSecret('1'), 'Secret ns/old': aSecret('1'), 'ConfigMap ns/old': aSecret('1') };
      const { keeper, secrets, did, onDisk } = stageOf(before);
      expectObservable(keeper.run$, '---!').toBe('');
      scheduler.schedule(() => {
        expect(secrets.get('ns', 's')?.metadata.resourceVersion).toBe('1');
        secrets.keep('ns', 's', aSecret('1'));
        secrets.retain([{ namespace: 'ns', name: 's' }]);
        expect(did).toEqual(['remove Secret ns/old']);
        expect([...onDisk.keys()]).toEqual(['Secret ns/s', 'ConfigMap ns/old']);
      }, 1);
    }),
  );

  it(
    'is written once more when it has changed during a write, as it is then',
    marbles(({ expectObservable, scheduler }) => {
      const { keeper, secrets, did } = stageOf({}, timer(5, scheduler).pipe(ignoreElements()));
      expectObservable(keeper.run$, '---------------!').toBe('');
      scheduler.schedule(() => ['1', '2', '3'].forEach((version) => secrets.keep('ns', 's', aSecret(version))), 1);
      scheduler.schedule(() => expect(did).toEqual(['write Secret ns/s 1']), 5);
      scheduler.schedule(() => expect(did).toEqual(['write Secret ns/s 1', 'write Secret ns/s 3']), 12);
    }),
  );

  it(
    'that could not be written is written when it is seen again, and the log says so once',
    marbles(({ expectObservable, scheduler }) => {
      const full = throwError(() => new Error('no space left on device'));
      const done = timer(0, scheduler).pipe(ignoreElements());
      const { keeper, secrets, did, logged } = stageOf({}, inTurn<never>(full, full, done, full));
      expectObservable(keeper.run$, '---------!').toBe('');
      for (const at of [1, 2, 3, 5]) scheduler.schedule(() => secrets.keep('ns', 's', aSecret('1')), at);
      scheduler.schedule(() => secrets.keep('ns', 's', aSecret('2')), 6);
      scheduler.schedule(() => {
        expect(did).toEqual([...Array<string>(3).fill('write Secret ns/s 1'), 'write Secret ns/s 2']);
        const message = 'an object cannot be kept for when the API server is away';
        expect(logged).toEqual([`warn ${message}`, `debug ${message}`, `warn ${message}`]);
      }, 8);
    }),
  );

  it(
    'is written although nothing could be read',
    marbles(({ expectObservable, scheduler }) => {
      const { disk, did } = stageOf();
      const logged: string[] = [];
      const say = (_: object, message: string) => logged.push(message);
      const readObjects = () => throwError(() => new Error('input/output error'));
      const keeper = objectKeeper({ ...disk, readObjects }, { debug: say, info: say, warn: say, error: say });
      expectObservable(keeper.run$, '---!').toBe('');
      scheduler.schedule(() => {
        keeper.of<Secret>('Secret').keep('ns', 's', aSecret('1'));
        expect(did).toEqual(['write Secret ns/s 1']);
        expect(logged).toEqual(['the last known objects cannot be read']);
      }, 1);
    }),
  );
});

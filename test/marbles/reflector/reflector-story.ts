import { map, of, throwError, type Observable } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import type { ReflectorEvent } from '../../../src/model/reflector/reflector-event.js';
import { errorText } from '../../../src/model/cri/cri-error.js';
import { reflector, type ReflectorOptions } from '../../../src/streams/reflector/reflector.js';
import type { ApiWatchMessage } from '../../../src/streams/ports/api-server.js';
import type { Logger } from '../../../src/streams/ports/logger.js';
import { bookmark, line, listOf, objectOf, opened, type Script, scriptedApi, story } from './scripted-api.js';

/** `5: a b`, `+c`, `-c`, `warning: too many`: one short word per event. */
export const word = (event: ReflectorEvent): string => {
  switch (event.kind) {
    case 'replaced':
      return [`${event.resourceVersion}:`, ...event.objects.map(({ metadata }) => metadata.name)].join(' ');
    case 'put':
      return `+${event.object.metadata.name}`;
    case 'deleted':
      return `-${event.object.metadata.name}`;
    case 'problem':
      return `${event.severity}: ${errorText(event.error)}`;
    case 'recovered':
      return 'well';
  }
};

const silent = (): void => undefined;
export const noLog: Logger = { debug: silent, info: silent, warn: silent, error: silent };

/** The requests and events of a reflector, each with its time. Default of random numbers: 0. */
export const followClosely = (
  untilMs: number,
  script: (cold: TestScheduler['createColdObservable']) => Script,
  { random = 0, ...options }: Partial<ReflectorOptions> & { readonly random?: number } = {},
): readonly string[] =>
  story(untilMs, ({ scheduler, cold, tell }) =>
    reflector(
      { api: scriptedApi(script(cold), tell), scheduler, random: () => random, log: noLog },
      { path: '/api/v1/things', name: 'things', ...options },
    ).pipe(map(word)),
  );

/** The same without what it gives up. */
export const follow = (...args: Parameters<typeof followClosely>): readonly string[] =>
  followClosely(...args).filter((what) => !what.endsWith(' given up'));

export const lines: Readonly<Record<string, ApiWatchMessage>> = {
  o: opened,
  a: line('ADDED', objectOf('a', 6)),
  b: line('ADDED', objectOf('b', 7)),
  m: line('MODIFIED', objectOf('a', 8)),
  x: line('DELETED', objectOf('b', 9)),
  k: bookmark(10),
  G: line('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' }),
  T: line('ERROR', { kind: 'Status', code: 429, reason: 'TooManyRequests', message: 'busy' }),
  I: line('ERROR', { kind: 'Status', code: 500, reason: 'InternalError', message: 'etcd' }),
};
export const empty = of(listOf(5, []));
export const failing = (error: unknown): Observable<never> => throwError(() => error);

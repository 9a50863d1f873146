import { map, type Observable } from 'rxjs';
import { describe, it } from 'vitest';
import { failover } from '../../examples/sources/failover.js';
import { type PodMessage, topicSource } from '../../examples/sources/message-topic.js';
import { onlyTeam } from '../../examples/sources/only-team.js';
import type { Pod } from '../../src/model/pod/pod.js';
import { podSet, type SourceEvent, sourceProblem } from '../../src/model/pod/pod-set.js';
import { podConfig } from '../../src/streams/config/pod-config.js';
import { inTurn, marbles } from './marbles.js';

const podOf = (name: string, team = 'a'): Pod => ({
  metadata: { uid: name, name, namespace: 'default', labels: { team } },
  spec: { containers: [] },
});

/** `[a b]` for a set, `!` for a problem. */
const outline = (event$: Observable<SourceEvent>) =>
  event$.pipe(
    map((event) => (event.kind === 'set' ? `[${event.pods.map(({ metadata }) => metadata.name).join(' ')}]` : '!')),
  );

const run = (key: string, name: string): PodMessage => ({
  kind: 'run',
  key,
  manifest: `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {containers: [{name: c, image: i}]}\n`,
});

describe('examples/sources', () => {
  it(
    'message-topic: a topic of messages becomes a source, beginning with nothing',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const messages = {
        a: run('1', 'a'),
        b: run('2', 'b'),
        A: run('1', 'Bad'),
        x: { kind: 'stop', key: '1' } as const,
      };
      const message$ = hot<PodMessage>('-a-b-A-x-|', messages);
      const expected = '                0a-c-P-b-|';
      const values = { 0: '[]', a: '[a-n]', c: '[a-n b-n]', b: '[b-n]', P: '!' };
      expectObservable(outline(topicSource(message$, 'n'))).toBe(expected, values);
      expectSubscriptions(message$.subscriptions).toBe('^--------!');
    }),
  );

  it(
    'message-topic: goes into the merge like any other source',
    marbles(({ hot, expectObservable, scheduler }) => {
      const message$ = hot<PodMessage>('-a-x|', { a: run('1', 'a'), x: { kind: 'stop', key: '1' } });
      const op$ = podConfig({ topic: topicSource(message$, 'n') }, { scheduler }).pipe(
        map((update) => (update.kind === 'pods' ? `${update.source} ${update.op} ${update.pods.length}` : '!')),
      );
      expectObservable(op$).toBe('0a-x|', { 0: 'topic ADD 0', a: 'topic ADD 1', x: 'topic REMOVE 1' });
    }),
  );

  it(
    'failover: the second source has its turn while the first one fails',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const sets = { a: podSet([podOf('a')]), b: podSet([podOf('b')]), c: podSet([podOf('c')]) };
      const first = cold('   a-#', sets);
      const broken = cold('#', sets);
      const back = cold('    c--', sets);
      const second = cold('  b', sets);
      const expected = '     a-(Pb)---(Pb)---c--';
      const turns = ['       --^------!', '---------^------!'];
      const unsub = '        ------------------------!';
      const values = { a: '[a]', b: '[b]', c: '[c]', P: '!' };
      const source$ = failover(inTurn(first, broken, back), second, { retryMs: 7, scheduler });
      expectObservable(outline(source$), unsub).toBe(expected, values);
      expectSubscriptions(second.subscriptions).toBe(turns);
      expectSubscriptions(back.subscriptions).toBe('----------------^-------!');
    }),
  );

  it(
    'only-team: what is filtered out is not wanted, problems pass',
    marbles(({ hot, expectObservable }) => {
      const both = podSet([podOf('a', 'payments'), podOf('b', 'search')]);
      const moved = podSet([podOf('a', 'search')]);
      const problem = sourceProblem({ severity: 'warning', message: 'hm' });
      const event$ = hot<SourceEvent>('b-p-m-|', { b: both, p: problem, m: moved });
      const values = { b: '[a]', P: '!', m: '[]' };
      expectObservable(outline(event$.pipe(onlyTeam('payments')))).toBe('b-P-m-|', values);
    }),
  );
});

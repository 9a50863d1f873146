import { describe, expect, it } from 'vitest';
import { foldHttpReply, type HttpOutcome, NO_HTTP_POLL } from '../../../src/model/config/fold-http-reply.js';

const PLACE = { url: 'http://pods', nodeName: 'n' };

const doc = (name: string): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {containers: [{name: c, image: i}]}\n`;
const ok = (body: string): HttpOutcome => ({ kind: 'ok', value: { status: 200, statusLine: '200 OK', body } });
const status = (code: number): HttpOutcome => ({
  kind: 'ok',
  value: { status: code, statusLine: `${code} Nope`, body: doc('z') },
});
const lost: HttpOutcome = { kind: 'failed', error: new Error('lost') };

const SIGNS = { error: 'E', warning: 'w', info: 'i', debug: 'd' };

/** One word per poll: `[names]` for a set, a letter for a problem by its severity. */
const play = (...outcomes: readonly HttpOutcome[]): readonly string[] => {
  let state = NO_HTTP_POLL;
  return outcomes.map((outcome) => {
    const folded = foldHttpReply(state, outcome, PLACE);
    state = folded.state;
    return folded.events
      .map((event) =>
        event.kind === 'set'
          ? `[${event.pods.map(({ metadata }) => metadata.name).join(' ')}]`
          : SIGNS[event.problem.severity],
      )
      .join('');
  });
};

describe('foldHttpReply', () => {
  it.each<[what: string, outcomes: readonly HttpOutcome[], said: readonly string[]]>([
    ['a new body is a set, the same body nothing', [ok(doc('a')), ok(doc('a')), ok(doc('b'))], ['[a-n]', '', '[b-n]']],
    [
      'failures are reported four times and then quietly',
      [lost, status(404), lost, lost, lost, lost],
      ['w', 'w', 'w', 'w', 'd', 'd'],
    ],
    [
      'the first success after failures is reported',
      [ok(doc('a')), lost, ok(doc('a')), lost, ok(doc('b'))],
      ['[a-n]', 'w', 'i', 'w', 'i[b-n]'],
    ],
    [
      'a success makes failures loud again',
      [lost, lost, lost, lost, lost, ok(doc('a')), lost],
      ['w', 'w', 'w', 'w', 'd', 'i[a-n]', 'w'],
    ],
    ['an empty body takes all pods away and is a failure', [ok(doc('a')), ok('')], ['[a-n]', '[]w']],
    ['a bad body is reported once', [ok(doc('a')), ok('x'), ok('x'), ok('x')], ['[a-n]', 'Ew', '', '']],
    [
      'a bad body that goes away is not taken for the one before',
      [ok(doc('a')), ok('x'), ok(doc('a'))],
      ['[a-n]', 'Ew', 'i[a-n]'],
    ],
    ['one bad pod refuses the whole body', [ok(`${doc('a')}---\n${doc('B')}`)], ['Ew']],
  ])('%s', (_what, outcomes, said) => {
    expect(play(...outcomes)).toEqual(said);
  });

  it('says what happened, and when it will say less', () => {
    let state = NO_HTTP_POLL;
    const messages = [status(404), lost, lost, lost].flatMap((outcome) => {
      const folded = foldHttpReply(state, outcome, PLACE);
      state = folded.state;
      return folded.events.map((event) => (event.kind === 'problem' ? event.problem.message : ''));
    });
    expect(messages).toEqual([
      'http://pods: failed to read pods: 404 Nope',
      'http://pods: failed to read pods: lost',
      'http://pods: failed to read pods: lost',
      'http://pods: failed to read pods: lost; further failures in a row are only logged at debug level',
    ]);
  });
});

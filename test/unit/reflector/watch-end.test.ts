import { expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import { statusError } from '../../../src/model/reflector/list-watch-error.js';
import { afterWatch, type EndedWatch } from '../../../src/model/reflector/watch-end.js';

const reply = (code: number, reason = '') => new ApiError({ code, reason, message: `${code}` });
const lost = (code: string) => new ApiError({ message: code, cause: Object.assign(new Error(code), { code }) });
const dual = new ApiError({
  message: 'both',
  cause: Object.assign(new AggregateError([]), {
    errors: [
      Object.assign(new Error(), { code: 'ECONNREFUSED' }),
      Object.assign(new Error(), { code: 'ECONNREFUSED' }),
    ],
  }),
});

const failed = (error: unknown): EndedWatch['how'] => ({ kind: 'failed', error });
const said = (code: number, reason: string): EndedWatch['how'] => ({
  kind: 'said',
  error: statusError({ kind: 'Status', code, reason, message: reason }),
});
const long = { wasOpen: true, livedMs: 1_000 };
const short = { wasOpen: true, livedMs: 999 };
const unopened = { wasOpen: false, livedMs: 5 };

it.each<[how: EndedWatch['how'], rest: Partial<EndedWatch>, expected: string]>([
  [{ kind: 'closed' }, long, 'again'],
  [{ kind: 'closed' }, short, 'list warning'],
  [{ kind: 'closed' }, { ...short, hadNews: true }, 'again'],
  [{ kind: 'closed' }, { ...long, wasOpen: false }, 'again'],
  [failed(lost('ECONNRESET')), long, 'again debug'],
  [failed(lost('ECONNRESET')), { ...short, hadNews: true }, 'again debug'],
  [failed(lost('ECONNRESET')), short, 'list warning'],
  [failed(lost('ECONNRESET')), unopened, 'list error'],
  [failed(lost('ECONNREFUSED')), unopened, 'later warning'],
  [failed(dual), unopened, 'later warning'],
  [failed(reply(429)), unopened, 'later warning'],
  [failed(reply(429, 'TooManyRequests')), unopened, 'later warning'],
  [failed(reply(410, 'Expired')), unopened, 'list debug'],
  [failed(reply(410)), unopened, 'list debug'],
  [failed(reply(500, 'InternalError')), unopened, 'list error'],
  [failed(reply(401, 'Unauthorized')), unopened, 'list error'],
  [failed(new Error('a bug')), long, 'list error'],
  [said(410, 'Expired'), long, 'list debug'],
  [said(410, 'Gone'), short, 'list debug'],
  [said(429, 'TooManyRequests'), long, 'later debug'],
  [said(500, 'InternalError'), long, 'list warning'],
  [said(403, 'Forbidden'), long, 'list warning'],
  [{ kind: 'silent' }, { ...long, silentInRow: 1 }, 'again debug'],
  [{ kind: 'silent' }, { ...long, silentInRow: 0 }, 'again debug'],
  [{ kind: 'silent' }, { ...long, silentInRow: 2 }, 'list debug'],
  [{ kind: 'silent' }, { ...unopened, silentInRow: 1 }, 'list warning'],
  [{ kind: 'went-back', error: new Error('older') }, long, 'list warning'],
])('after %o with %o comes: %s', (how, rest, expected) => {
  const { next, problem } = afterWatch({ how, hadNews: false, silentInRow: 0, ...long, ...rest });
  expect([next, ...(problem ? [problem.severity] : [])].join(' ')).toBe(expected);
});

import { expect, it } from 'vitest';
import { CriError } from '../../../src/model/cri/cri-error.js';
import { pullErrorText } from '../../../src/model/images/pull-error.js';

const cri = (code: ConstructorParameters<typeof CriError>[0], text: string) => new CriError(code, 'PullImage', text);

it.each([
  [[cri('unknown', 'it broke')], 'it broke'],
  [[cri('other', 'no image_ref')], 'no image_ref'],
  [[cri('not-found', 'no such image')], 'rpc error: code = NotFound desc = no such image'],
  [[cri('unauthenticated', 'who?')], 'rpc error: code = Unauthenticated desc = who?'],
  [[new Error('pull QPS exceeded')], 'pull QPS exceeded'],
  [[cri('unknown', 'a'), cri('unknown', 'b')], '[a, b]'],
  [[cri('unknown', 'a'), cri('unknown', 'a')], 'a'],
  [[cri('unknown', 'a'), cri('unknown', 'b'), cri('unknown', 'a')], '[a, b]'],
])('attempts that failed are named: $1', (errors, text) => expect(pullErrorText(errors)).toBe(text));

import { describe, expect, it } from 'vitest';
import { remoteEnd } from '../../../src/model/server/remote-end.js';
import { statusText } from '../../../src/runtime/embedded/streaming/command-status.js';

const failed = (message: string) => ({ kind: 'failed', message });
const nonZero = (causes: unknown) =>
  JSON.stringify({ status: 'Failure', reason: 'NonZeroExitCode', message: 'm', details: { causes } });

describe('the end of a session', () => {
  it.each([
    ['{"metadata":{},"status":"Success"}', { kind: 'ended', exitCode: 0 }],
    [nonZero([{ reason: 'ExitCode', message: '137' }]), { kind: 'ended', exitCode: 137 }],
    ['{"status":"Failure","message":"no such program","code":500}', failed('no such program')],
    ['', failed('the connection was closed before the end was reported')],
    ['{"status":"Odd"}', failed('error stream protocol error: unknown error')],
    ['null', failed('error stream protocol error: unknown error')],
    [nonZero([]), failed('error stream protocol error: no ExitCode cause given')],
    [
      nonZero([{ reason: 'ExitCode', message: 'x' }]),
      failed('error stream protocol error: invalid exit code value "x"'),
    ],
  ])('%s', (text, expected) => {
    expect(remoteEnd(text)).toEqual(expected);
  });

  it('is no document', () => {
    expect(remoteEnd('{"status"')).toEqual({
      kind: 'failed',
      message: expect.stringMatching(/^error stream protocol error: SyntaxError: .* in "\{\\"status\\""$/) as string,
    });
  });

  it('is that which a runtime writes', () => {
    const text = statusText({ kind: 'exit', exitCode: 3, message: 'm' }, true);
    expect(remoteEnd(text)).toEqual({ kind: 'ended', exitCode: 3 });
    expect(remoteEnd(statusText(undefined, true))).toEqual({ kind: 'ended', exitCode: 0 });
    expect(remoteEnd(statusText({ kind: 'error', message: 'm' }, true))).toEqual(failed('Internal error occurred: m'));
  });
});

import { describe, expect, it } from 'vitest';
import { delaySettings, printedDelayMs, printedSignal } from '../../../../src/host/logind/logind-call.js';

describe('the output of busctl', () => {
  it.each([
    ['{"type":"t","data":5000000}\n', 5_000],
    ['{"type":"t","data":0}\n', 0],
    // No limit.
    ['{"type":"t","data":18446744073709551615}\n', 18_446_744_073_709_552],
  ])('the delay %j is %d ms', (output, expected) => expect(printedDelayMs(output)).toBe(expected));

  it('a delay that is no number is an error with its text', () => {
    expect(() => printedDelayMs('{"type":"s","data":"5s"}\n')).toThrow(
      'InhibitDelayMaxUSec is {"type":"s","data":"5s"} (expected a number of microseconds)',
    );
  });

  const message = (fields: object): string =>
    JSON.stringify({ type: 'signal', member: 'PrepareForShutdown', payload: { type: 'b', data: [true] }, ...fields });
  it.each([
    [message({}), 'shutdown'],
    [message({ payload: { type: 'b', data: [false] } }), 'cancelled'],
    [message({ member: 'PrepareForSleep' }), undefined],
    [message({ type: 'method_call' }), undefined],
    [message({ payload: { type: 's', data: ['true'] } }), undefined],
    [message({ payload: { type: '', data: [] } }), undefined],
    [message({ payload: undefined }), undefined],
  ])('the message %s is the signal %s', (line, expected) => expect(printedSignal(line)).toBe(expected));
});

it('the settings of logind have whole seconds without an exponent', () => {
  expect(delaySettings(2_147_484)).toContain('\n[Login]\nInhibitDelayMaxSec=2147484\n');
});

import { describe, expect, it } from 'vitest';
import {
  type NodeCertificate,
  isExpired,
  nodeSubject,
  satisfies,
  secondsLeft,
} from '../../../src/model/certificates/node-certificate.js';
import { renewalDelay } from '../../../src/model/certificates/renewal-delay.js';
import { rotationDeadline } from '../../../src/model/certificates/rotation-deadline.js';

const wanted = nodeSubject('node-1');
const certificate: NodeCertificate = { ...wanted, notBefore: 1_000, notAfter: 11_000, fingerprint: 'f' };

describe('a client certificate', () => {
  it.each([
    [10_999, false],
    [11_000, false],
    [11_001, true],
  ])('at %i of 11000: ended %j', (now, expected) => {
    expect(isExpired(certificate, now)).toBe(expected);
  });

  it.each([
    ['another name', { ...wanted, commonName: 'system:node:node-2' }, false],
    ['no organization', { ...wanted, organizations: [] }, false],
    ['one more organization', { ...wanted, organizations: ['more', 'system:nodes'] }, true],
    ['what is wanted', { commonName: 'system:node:node-1', organizations: ['system:nodes'] }, true],
  ])('with %s is one of the node: %#', (_, subject, expected) => {
    expect(satisfies(subject, wanted)).toBe(expected);
  });

  it.each([
    [undefined, 0, Infinity],
    [11_000, 1_500, 9],
    [11_000, 11_000, 0],
    [11_000, 14_500, -3],
  ])('that ends at %j has at %i this number of seconds left: %d', (notAfter, now, expected) => {
    expect(secondsLeft(notAfter, now)).toBe(expected);
  });
});

describe('the next certificate is asked for', () => {
  it.each([
    [0, 8_000],
    [0.5, 9_000],
    [0.9999, 9_999.8],
  ])('with a draw of %d after 70 to 90 %% of the life of the old one', (draw, expected) => {
    expect(rotationDeadline(certificate, wanted, draw)).toBeCloseTo(expected);
  });

  it('at once without one, and with one of another node', () => {
    expect(rotationDeadline(undefined, wanted, 0.5)).toBe(-Infinity);
    expect(rotationDeadline(certificate, nodeSubject('node-2'), 0.5)).toBe(-Infinity);
  });
});

it.each([
  [1, 0, 2_000],
  [2, 0, 4_000],
  [3, 0, 8_000],
  [4, 0, 16_000],
  [5, 0, 32_000],
  [50, 0, 32_000],
  [1, 0.5, 2_100],
  [4, 0.5, 16_800],
  [5, 0.5, 32_000],
])('after %i failures in a row, with a draw of %d, it is tried again after %i ms', (failures, draw, expected) => {
  expect(renewalDelay(failures, draw)).toBe(expected);
});

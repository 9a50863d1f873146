import { expect, it } from 'vitest';
import { certificateBlocks } from '../../../src/model/certificates/certificate-blocks.js';

const block = (body: string): string => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----`;

it('finds the certificates of a text as they are', () => {
  expect(certificateBlocks(`a\n${block('QUJD')}b${block('REVG')}\n-----BEGIN CERTIFICATE-----\n`)).toEqual([
    block('QUJD'),
    block('REVG'),
  ]);
  expect(certificateBlocks('')).toEqual([]);
});

it('looks once for the end of hundreds of thousands of beginnings', () => {
  expect(certificateBlocks('-----BEGIN CERTIFICATE-----\n'.repeat(500_000))).toEqual([]);
});

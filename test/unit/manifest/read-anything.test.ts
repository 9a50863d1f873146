import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { placePods } from '../../../src/model/manifest/place-pods.js';
import { readManifest } from '../../../src/model/manifest/parse-manifest.js';
import { withBoth } from './marked.js';

const RICH = withBoth(
  [
    'env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: B, value: "1"}]',
    'ports: [{containerPort: 80, name: web, hostPort: 8080}]',
    'livenessProbe: {httpGet: {port: web}}',
    'lifecycle: {preStop: {exec: {command: [sleep, "1"]}}}',
    'resources: {limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 500m}}',
    'securityContext: {runAsUser: 1000, capabilities: {drop: [ALL]}}',
    'volumeMounts: [{name: v, mountPath: /v}, &m {name: w, mountPath: /w}]',
  ].join('\n'),
  [
    'volumes: [{name: v, hostPath: {path: /a}}, {name: w, downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.uid}}]}}]',
    'tolerations: [{key: a, operator: Equal, value: b, effect: NoSchedule}]',
    'dnsPolicy: None',
    'dnsConfig: {nameservers: [1.1.1.1], searches: [a.b]}',
    'hostAliases: [{ip: "::1", hostnames: [a]}]',
  ].join('\n'),
);

const slip = fc.record({
  at: fc.nat(RICH.length),
  removes: fc.nat(6),
  inserts: fc.oneof(
    fc.constantFrom(
      '',
      ' ',
      '\n',
      '\t',
      ':',
      ': ',
      '- ',
      '{',
      '}',
      '[',
      ']',
      '"',
      "'",
      '&a ',
      '*a',
      '<<: *m',
      '---\n',
      '#',
      '~',
      '!!',
      '|',
      '-1',
    ),
    fc.string({ maxLength: 3 }),
  ),
});

const slipped = fc
  .array(slip, { minLength: 1, maxLength: 4 })
  .map((slips) =>
    slips.reduce((text, { at, removes, inserts }) => text.slice(0, at) + inserts + text.slice(at + removes), RICH),
  );

describe('readManifest of anything at all', () => {
  it('reads the manifest that the others are made from', () => {
    expect(readManifest(RICH, { file: 'f' })).toMatchObject({ pods: [{ line: 1, column: 1 }], problems: [] });
  });

  it('never throws, and puts every problem inside the text', () => {
    let bad = 0;
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: slipped }, { weight: 1, arbitrary: fc.string() }), (text) => {
        const reading = readManifest(text, { file: 'f' });
        placePods(reading, { source: 'file', nodeName: 'n', origin: 'f' });
        const lines = text.replace(/^\uFEFF/, '').split('\n');
        if (reading.problems.length > 0) bad += 1;
        for (const { line, column, message } of reading.problems) {
          expect(line).toBeGreaterThan(0);
          expect(line).toBeLessThanOrEqual(lines.length);
          expect(column).toBeGreaterThan(0);
          expect(column).toBeLessThanOrEqual(lines[line - 1]!.length + 1);
          expect(message).not.toBe('');
        }
      }),
      { numRuns: 1500 },
    );
    expect(bad).toBeGreaterThan(500);
  });
});

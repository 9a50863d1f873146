import { describe, expect, it } from 'vitest';
import type { Node } from '../../../src/model/node/node.js';
import { afterWrite, isReportDue, NO_REPORT, type StatusReport } from '../../../src/model/node/status-report.js';

const report = (reportedAt: number, spreadMs = 0): StatusReport => ({ ...NO_REPORT, reportedAt, spreadMs });

it.each<readonly [string, StatusReport, number, boolean]>([
  ['is due before the first write', NO_REPORT, 0, true],
  ['is not due right before the end of the period', report(50), 149, false],
  ['is due at the end of the period', report(50), 150, true],
  ['is not due right before the end of a longer period', report(50, 40), 189, false],
  ['is due at the end of a longer period', report(50, 40), 190, true],
  ['is due at the end of a shorter period', report(50, -40), 110, true],
])('an unchanged status of the Node %s', (_, before, now, expected) =>
  expect(isReportDue(before, now, 100)).toBe(expected),
);

describe('the report after a write', () => {
  const node: Node = { metadata: { name: 'node-1' } };
  const sent: Node = {
    ...node,
    status: { features: { supplementalGroupsPolicy: true }, declaredFeatures: ['a'] },
  };

  it('has the time of the reply, and keeps its other fields', () => {
    const before: StatusReport = { ...report(1, 5), isUnschedulable: true };
    expect(afterWrite(before, { sent: node, answer: node, now: 9 })).toEqual({
      report: { ...before, reportedAt: 9 },
      dropped: [],
    });
  });

  it('adds the fields that the reply lacks to those that the API server does not keep', () => {
    const before: StatusReport = { ...NO_REPORT, dropped: new Set(['status.runtimeHandlers']) };
    const kept: Node = { ...node, status: { declaredFeatures: ['a'] } };
    const after = afterWrite(before, { sent, answer: kept, now: 9 });
    expect(after.dropped).toEqual(['status.features']);
    expect([...after.report.dropped]).toEqual(['status.runtimeHandlers', 'status.features']);
  });
});

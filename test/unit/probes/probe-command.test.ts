import { describe, expect, it } from 'vitest';
import type { Container } from '../../../src/model/pod/pod.js';
import { probeCommand } from '../../../src/model/probes/probe-command.js';

const env: Container['env'] = [
  { name: 'DIR', value: '/srv' },
  { name: 'FILE', value: '$(DIR)/up' },
  { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
  { name: 'TWICE', value: 'first' },
  { name: 'TWICE', value: 'second' },
];

describe('the command of an exec probe', () => {
  it.each([
    ['$(DIR)/up', '/srv/up'],
    ['$(FILE)', '$(DIR)/up'],
    ['[$(IP)]', '[]'],
    ['$(TWICE)', 'second'],
    ['$(KUBERNETES_SERVICE_HOST)', '$(KUBERNETES_SERVICE_HOST)'],
    ['$$(DIR)', '$(DIR)'],
    ['$DIR', '$DIR'],
    ['toString $(toString)', 'toString $(toString)'],
  ])('reads %s as %s', (argument, expected) => {
    expect(probeCommand(['test', argument], { name: 'main', env })).toEqual(['test', expected]);
  });

  it('needs no variables', () => {
    expect(probeCommand(['a', '$(B)'], { name: 'main' })).toEqual(['a', '$(B)']);
  });
});

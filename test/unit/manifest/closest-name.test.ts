import { describe, expect, it } from 'vitest';
import { closestName } from '../../../src/model/manifest/closest-name.js';

const KNOWN = ['image', 'imagePullPolicy', 'ports', 'env', 'envFrom', 'livenessProbe'];

describe('closestName', () => {
  it.each([
    ['imgae', 'image'],
    ['IMAGE', 'image'],
    ['imagePullPollicy', 'imagePullPolicy'],
    ['prots', 'ports'],
    ['port', 'ports'],
    ['envs', 'env'],
    ['env_from', 'envFrom'],
    ['livnesProbe', 'livenessProbe'],
  ])('takes %s for %s', (name, expected) => {
    expect(closestName(name, KNOWN)).toBe(expected);
  });

  it.each(['', 'x', 'volumes', 'replicas', 'probe'])('takes %j for nothing', (name) => {
    expect(closestName(name, KNOWN)).toBeUndefined();
  });
});

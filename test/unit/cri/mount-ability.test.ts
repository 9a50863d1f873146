import { expect, it } from 'vitest';
import { canMount } from '../../../src/model/cri/mount-ability.js';

it.each<{ info: Record<string, string>; can: boolean }>([
  { info: {}, can: true },
  { info: { config: '{"mounts":false}' }, can: true },
  { info: { info: '{"mounts":false}' }, can: false },
  { info: { info: '{"mounts":true}' }, can: true },
  { info: { info: '{"sandboxID":"x"}' }, can: true },
  { info: { info: 'null' }, can: true },
  { info: { info: 'not JSON' }, can: true },
])('a runtime that says $info can mount: $can', ({ info, can }) => {
  expect(canMount(info)).toBe(can);
});

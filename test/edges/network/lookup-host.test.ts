import { firstValueFrom } from 'rxjs';
import { expect, it } from 'vitest';
import { lookupHost } from '../../../src/network/lookup-host.js';

it('asks the system, which knows itself', async () => {
  expect(await firstValueFrom(lookupHost('localhost'))).toContain('127.0.0.1');
});

it('errors for a name without an address', async () => {
  // Too long for any server to be asked.
  const name = Array.from({ length: 5 }, () => 'x'.repeat(60)).join('.');
  await expect(firstValueFrom(lookupHost(name))).rejects.toThrow(name);
});

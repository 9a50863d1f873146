import { expect, it } from 'vitest';
import { sysctlPatternProblem } from '../../../src/model/admission/sysctls.js';

it.each([
  'net.core.somaxconn',
  'net.*',
  'net/ipv4/*',
  'kernel.msgmax',
  'kernel.msg*',
  'fs.mqueue.*',
  'net.ipv4.conf.eth0_1/2.x',
])('%s can be allowed', (pattern) => expect(sysctlPatternProblem(pattern)).toBeUndefined());

it.each([
  ['vm/swappiness', 'the sysctl "vm.swappiness" are not known to be namespaced'],
  ['kernel.*', 'the sysctls "kernel.*" are not known to be namespaced'],
  ['*', 'the sysctls "*" are not known to be namespaced'],
  ['net*.x', 'sysctl "net*.x" must have at most 253 characters and match regex ^('],
  ['', 'sysctl "" must have at most 253 characters'],
  ['Net.core', 'sysctl "Net.core" must have at most 253 characters'],
  [`net.${'a'.repeat(250)}`, 'must have at most 253 characters'],
])('%s cannot: it says %s', (pattern, message) => expect(sysctlPatternProblem(pattern)).toContain(message));

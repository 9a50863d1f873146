import { describe, expect, it } from 'vitest';
import { fieldOfFlag, OTHERWISE_NAMED } from '../../../src/cli/config/fields/field-of-flag.js';
import { fieldPaths } from '../../../src/cli/config/fields/field-paths.js';
import { FIELD_FLAG_NAMES } from '../../../src/cli/arguments/run-flags.js';

describe('the field of a flag', () => {
  it.each([
    ['--cluster-dns', 'clusterDNS'],
    ['--make-iptables-util-chains', 'makeIPTablesUtilChains'],
    ['--cpu-cfs-quota-period', 'cpuCFSQuotaPeriod'],
    ['--logging-format', 'logging.format'],
    ['--authorization-webhook-cache-authorized-ttl', 'authorization.webhook.cacheAuthorizedTTL'],
    ['--image-gc-low-threshold', 'imageGCLowThresholdPercent'],
    ['--log-text-split-stream', 'logging.options.text.splitStream'],
    ['--nonsense', undefined],
    ['--', undefined],
  ])('of %s is %s', (flag, field) => expect(fieldOfFlag(flag)).toBe(field));

  it('is a field of the configuration, for each flag with a name of its own', () => {
    // Those of `logging.options` are one field without a shape.
    const known = Object.values(OTHERWISE_NAMED).map((field) => field.replace(/^(logging\.options)\..*/, '$1'));
    for (const field of known) expect(fieldPaths()).toContain(field);
  });

  it('needs a name of its own for no flag that has the letters of its field', () => {
    for (const [flag, field] of Object.entries(OTHERWISE_NAMED)) {
      expect(flag.replace(/-/g, '')).not.toBe(field.replace(/\./g, '').toLowerCase());
    }
  });

  it('is that of the flags of this agent', () => {
    const found = FIELD_FLAG_NAMES.map(({ name, field }) => ({ field, found: fieldOfFlag(`--${name}`) }));
    for (const { field, found: one } of found.filter(({ found: each }) => each !== undefined)) expect(one).toBe(field);
    expect(found.filter(({ found: one }) => one !== undefined).length).toBeGreaterThan(25);
  });
});

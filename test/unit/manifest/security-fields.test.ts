import { expect, it } from 'vitest';
import {
  type SecurityField,
  unappliedByRuntime,
  unappliedFields,
  unappliedText,
} from '../../../src/model/manifest/security-fields.js';

const ALL: readonly SecurityField[] = [
  'allowPrivilegeEscalation',
  'appArmorProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'seLinuxOptions',
  'seccompProfile',
];
type Spec = Parameters<typeof unappliedFields>[0];
const askedBy = (
  securityContext: NonNullable<Spec['containers'][number]['securityContext']>,
  fields: readonly SecurityField[] = ALL,
): string => unappliedText(unappliedFields({ containers: [{ name: 'c', securityContext }] }, fields));

it.each<[Parameters<typeof askedBy>[0], string]>([
  [{}, ''],
  [{ allowPrivilegeEscalation: false }, 'allowPrivilegeEscalation of c'],
  [{ allowPrivilegeEscalation: true }, ''],
  [{ capabilities: { drop: ['ALL'] } }, 'capabilities of c'],
  [{ capabilities: { add: ['KILL'] } }, 'capabilities of c'],
  [{ capabilities: { add: [], drop: [] } }, ''],
  [{ capabilities: { drop: ['ALL'] }, privileged: true }, ''],
  [{ readOnlyRootFilesystem: true }, 'readOnlyRootFilesystem of c'],
  [{ readOnlyRootFilesystem: false }, ''],
  [{ seccompProfile: { type: 'RuntimeDefault' } }, 'seccompProfile of c'],
  [{ seccompProfile: { type: 'Unconfined' } }, ''],
  [{ seccompProfile: { type: 'RuntimeDefault' }, privileged: true }, ''],
  [{ appArmorProfile: { type: 'Localhost', localhostProfile: 'x' } }, 'appArmorProfile of c'],
  [{ appArmorProfile: { type: 'Unconfined' } }, ''],
  [{ seLinuxOptions: { level: 's0' } }, 'seLinuxOptions of c'],
  [{ seLinuxOptions: {} }, ''],
  [{ runAsUser: 5, runAsNonRoot: true }, ''],
])('of %j is reported: %s', (context, text) => {
  expect(askedBy(context)).toBe(text);
  expect(askedBy(context, [])).toBe('');
});

it('names the pod and every kind of container', () => {
  const securityContext = { seccompProfile: { type: 'RuntimeDefault' } };
  const spec: Spec = {
    securityContext,
    initContainers: [{ name: 'init', securityContext }],
    containers: [{ name: 'main' }, { name: 'side', securityContext: { capabilities: { drop: ['KILL'] } } }],
    ephemeralContainers: [{ name: 'debug', securityContext }],
  };
  const unapplied = unappliedFields(spec, ALL);
  expect(unappliedText(unapplied)).toBe('capabilities of side; seccompProfile of the pod and of init and of debug');
  expect(unapplied.map(({ path }) => path.join('.'))).toEqual([
    'securityContext.seccompProfile',
    'initContainers.0.securityContext.seccompProfile',
    'containers.1.securityContext.capabilities',
    'ephemeralContainers.0.securityContext.seccompProfile',
  ]);
});

it.each<[Record<string, string>, readonly SecurityField[]]>([
  [{}, []],
  [{ info: 'not JSON' }, []],
  [{ info: 'null' }, []],
  [{ info: '{"securityNotApplied":"capabilities"}' }, []],
  [{ info: '{"securityNotApplied":["seccompProfile","capabilities","teapot",7]}' }, ['capabilities', 'seccompProfile']],
])('a runtime that says %j does not apply %j', (info, fields) => {
  expect(unappliedByRuntime(info)).toEqual(fields);
});

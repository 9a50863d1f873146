import type { Json, Pod } from '../pod/pod.js';

/**
 * The fields of a security context that CRI passes to every runtime, although a runtime may not be able to apply them.
 */
const SECURITY_FIELDS = [
  'allowPrivilegeEscalation',
  'appArmorProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'seLinuxOptions',
  'seccompProfile',
] as const;
export type SecurityField = (typeof SECURITY_FIELDS)[number];

/** The fields that the embedded runtime never applies. */
export const NEVER_EMBEDDED: readonly SecurityField[] = ['appArmorProfile', 'seLinuxOptions', 'seccompProfile'];

export interface UnappliedField {
  readonly field: SecurityField;
  /** The path below `spec`. */
  readonly path: readonly (string | number)[];
  /** The name of the container; absent for the whole pod. */
  readonly container?: string;
}

type Context = Json<NonNullable<Pod['spec']['containers'][number]['securityContext']>>;
/** The common part of a manifest's pod and an API's pod. */
interface Spec {
  readonly securityContext?: Pick<Context, 'appArmorProfile' | 'seLinuxOptions' | 'seccompProfile'>;
  readonly containers: readonly Holder[];
  readonly initContainers?: readonly Holder[];
  readonly ephemeralContainers?: readonly Holder[];
}
interface Holder {
  readonly name: string;
  readonly securityContext?: Context;
}

/**
 * Returns the fields of this list that the pod sets to other values than the default. The caller warns that they are
 * not applied.
 */
export const unappliedFields = (spec: Spec, fields: readonly SecurityField[]): readonly UnappliedField[] => [
  ...asked(spec.securityContext, fields).map((field) => ({ field, path: ['securityContext', field] })),
  ...(['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).flatMap(({ name, securityContext }, index) =>
      asked(securityContext, fields).map((field) => ({
        field,
        container: name,
        path: [list, index, 'securityContext', field],
      })),
    ),
  ),
];

/** `seccompProfile of the pod and of main; capabilities of init`. */
export const unappliedText = (unapplied: readonly UnappliedField[]): string =>
  SECURITY_FIELDS.flatMap((wanted) => {
    const found = unapplied.filter(({ field }) => field === wanted);
    const holders = found.map(({ container }) => (container === undefined ? 'of the pod' : `of ${container}`));
    return found.length === 0 ? [] : `${wanted} ${holders.join(' and ')}`;
  }).join('; ');

const asked = (context: Context | undefined, fields: readonly SecurityField[]): readonly SecurityField[] =>
  context === undefined ? [] : fields.filter((field) => WANTS[field](context));

/** A privileged container keeps all capabilities. */
const WANTS: Readonly<Record<SecurityField, (context: Context) => boolean>> = {
  allowPrivilegeEscalation: (context) => context.allowPrivilegeEscalation === false,
  appArmorProfile: ({ appArmorProfile, privileged }) => !privileged && isConfined(appArmorProfile),
  capabilities: ({ capabilities, privileged }) =>
    !privileged && (capabilities?.add ?? []).length + (capabilities?.drop ?? []).length > 0,
  readOnlyRootFilesystem: (context) => context.readOnlyRootFilesystem === true,
  seLinuxOptions: ({ seLinuxOptions }) => Object.values(seLinuxOptions ?? {}).some((part) => part !== undefined),
  seccompProfile: ({ seccompProfile, privileged }) => !privileged && isConfined(seccompProfile),
};

const isConfined = (profile: { readonly type: string } | undefined): boolean =>
  profile !== undefined && profile.type !== 'Unconfined';

/**
 * Reads the fields that a runtime does not apply from the JSON text `info` of its verbose status. CRI has no field for them. A
 * runtime without this entry applies all fields.
 */
export const unappliedByRuntime = (info: Readonly<Record<string, string>>): readonly SecurityField[] => {
  try {
    const said = (JSON.parse(info.info ?? 'null') as { readonly securityNotApplied?: unknown } | null)
      ?.securityNotApplied;
    return Array.isArray(said) ? SECURITY_FIELDS.filter((field) => said.includes(field)) : [];
  } catch {
    return [];
  }
};

import type { LinuxContainerSecurityContext } from '../../../generated/runtime/v1/api.js';
import { boundingSetOf } from './capabilities.js';
import { readIfThere } from '../machine/machine.js';
import { invalidArgument } from '../runtime-error.js';

/** The user of a container. */
export interface UserPlan {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  readonly home: string;
  readonly noNewPrivileges: boolean;
  /** See `boundingSetOf`; absent for the runtime's own. */
  readonly boundingSet?: string;
  /** Whether it differs from the user of the runtime, so that `setpriv` has to change it. */
  readonly changes: boolean;
}

/** Errors: the file exists and cannot be read. No container may run without its groups. */
const table = (path: string): string[][] => (readIfThere(path) ?? '').split('\n').map((line) => line.split(':'));

/**
 * The user, group and further groups of the security context, from this machine's user database if it leaves them open.
 * Errors: INVALID_ARGUMENT for an unknown name and for any change that this runtime may not make.
 */
export const planUser = (
  context: LinuxContainerSecurityContext | undefined,
  runtime: {
    readonly uid: number;
    readonly gid: number;
    readonly groups: readonly number[];
    readonly canChange: boolean;
    readonly canForbidPrivileges: boolean;
    readonly canDropCapabilities: boolean;
  },
): UserPlan => {
  const accounts = table('/etc/passwd');
  const name = context?.runAsUsername ?? '';
  const named = name === '' ? undefined : accounts.find(([account]) => account === name);
  if (name !== '' && !named) throw invalidArgument(`run_as_username "${name}": no such user in /etc/passwd`);
  const uid = context?.runAsUser ? Number(context.runAsUser.value) : named ? Number(named[2]) : runtime.uid;
  const account = named ?? accounts.find(([, , id]) => Number(id) === uid);
  const ownGid = uid === runtime.uid ? runtime.gid : account ? Number(account[3]) : 0;
  const gid = context?.runAsGroup ? Number(context.runAsGroup.value) : ownGid;
  const member =
    context?.supplementalGroupsPolicy === 'Strict' || !account || uid === 0
      ? []
      : table('/etc/group').flatMap(([, , id, users = '']) =>
          users.split(',').includes(account[0] ?? '') ? [Number(id)] : [],
        );
  const asked = (context?.supplementalGroups ?? []).map(Number);
  const noNewPrivileges = (context?.noNewPrivs ?? false) && runtime.canForbidPrivileges;
  const asksFor = boundingSetOf(context);
  const boundingSet = runtime.canDropCapabilities ? asksFor : undefined;
  const home = account?.[5] ?? '/';
  if (runtime.canChange) {
    const groups = [...new Set([...asked, ...member])].filter((group) => group !== gid);
    const changes = uid !== runtime.uid || gid !== runtime.gid || groups.length > 0;
    return { uid, gid, groups, home, noNewPrivileges, changes, ...(boundingSet !== undefined && { boundingSet }) };
  }
  const refuse = (field: string, wanted: string): never => {
    throw invalidArgument(
      `${field} ${wanted}: this runtime runs as uid ${runtime.uid}, gid ${runtime.gid} and only root (with setpriv) can change that`,
    );
  };
  if (uid !== runtime.uid) refuse('run_as_user', String(uid));
  if (gid !== runtime.gid) refuse('run_as_group', String(gid));
  const foreign = asked.filter((group) => group !== gid && !runtime.groups.includes(group));
  if (foreign.length > 0) refuse('supplemental_groups', foreign.join(','));
  return { uid, gid, groups: runtime.groups, home, noNewPrivileges, changes: false };
};

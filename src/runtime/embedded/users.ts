import { readFileSync } from 'node:fs';
import type { LinuxContainerSecurityContext } from '../../generated/runtime/v1/api.js';
import { invalidArgument } from './runtime-error.js';

/** As whom a container runs. */
export interface UserPlan {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  readonly home: string;
  readonly noNewPrivileges: boolean;
  /** Whether it differs from the user of the runtime, so that `setpriv` is needed. */
  readonly changes: boolean;
}

const table = (path: string): string[][] => {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .map((line) => line.split(':'));
  } catch {
    return [];
  }
};

/**
 * The user, group and further groups that the security context asks for, from this machine's user database where it leaves
 * them open. Errors: INVALID_ARGUMENT for an unknown name and for any change that this runtime may not make.
 */
export const planUser = (
  context: LinuxContainerSecurityContext | undefined,
  runtime: {
    readonly uid: number;
    readonly gid: number;
    readonly groups: readonly number[];
    readonly canChange: boolean;
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
  const noNewPrivileges = context?.noNewPrivs ?? false;
  const home = account?.[5] ?? '/';
  if (runtime.canChange) {
    const groups = [...new Set([...asked, ...member])].filter((group) => group !== gid);
    const changes = uid !== runtime.uid || gid !== runtime.gid || groups.length > 0 || noNewPrivileges;
    return { uid, gid, groups, home, noNewPrivileges, changes };
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
  return { uid, gid, groups: runtime.groups, home, noNewPrivileges: false, changes: false };
};

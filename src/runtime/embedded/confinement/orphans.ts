import type { Logger } from '../../../streams/ports/logger.js';
import { Cgroup, type CgroupLayout } from './cgroup.js';
import { cgroupConfinement, killAll, type Confinement } from './confinement.js';
import type { Instance } from '../machine/instance.js';
import { processesWithMark, sendSignal } from './process-tree.js';

/**
 * Ends every process of this instance without a record, and logs them. Such processes can be neither listed nor
 * stopped, and would run beside their replacement. Errors: the processes cannot be read, or one survives.
 */
export const endOrphans = async (plan: {
  readonly instance: Instance;
  readonly cgroups: CgroupLayout | undefined;
  readonly sandboxIds: ReadonlySet<string>;
  readonly marks: ReadonlySet<string>;
  readonly log: Logger;
}): Promise<void> => {
  const { instance, cgroups, sandboxIds, log } = plan;
  const end = async (confinement: Confinement, fields: object): Promise<void> => {
    const pids = confinement.pids();
    if (pids.length > 0) log.warn({ ...fields, pids }, 'processes without a record are ended');
    if (!(await killAll(confinement))) log.error({ ...fields, pids: confinement.pids() }, 'processes survive SIGKILL');
    await confinement.remove();
  };
  for (const id of cgroups ? Cgroup.sandboxesIn(cgroups, instance.group) : [])
    if (!sandboxIds.has(id) && cgroups)
      await end(cgroupConfinement(Cgroup.ofSandbox(cgroups, { parent: '', home: instance.group }, id)), {
        sandboxId: id,
      });
  const marked = (): { readonly pid: number }[] =>
    processesWithMark((mark) => instance.isOwnMark(mark) && !plan.marks.has(mark));
  await end(
    {
      joinScript: ':',
      pids: () => marked().map(({ pid }) => pid),
      kill: () => marked().forEach(({ pid }) => sendSignal(pid, 'SIGKILL')),
      remove: () => Promise.resolve(),
    },
    {},
  );
};

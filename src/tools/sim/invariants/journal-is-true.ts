import type { Invariant } from './monitor.js';

export const journalIsTrue: Invariant = {
  name: 'journal-is-true',
  rule: 'Every event of a container in the journal has happened, with the exit code in the journal.',
  source: 'docs/pleg.md',
  watch: (truth) => ({
    on: (event) => {
      if (event.kind !== 'journal' || event.entry.kind !== 'runtime-changed') return undefined;
      const { change, containerId, exitCode, pod, container } = event.entry;
      const about = { uid: pod?.uid, container };
      const wrong = (truthIs: string) => [{ ...about, message: `${change} of ${containerId}, but ${truthIs}` }];
      const instance = truth.instances.get(containerId);
      const sandbox = truth.sandboxes.get(containerId);
      if (!instance && !sandbox) return change === 'PodSync' ? undefined : wrong('no item has had that id');
      switch (change) {
        case 'ContainerStarted':
          return instance && instance.startedAt === undefined ? wrong('it has never been started') : undefined;
        case 'ContainerDied': {
          if (sandbox) return sandbox.stoppedAt === undefined ? wrong('the sandbox is ready') : undefined;
          if (instance?.exitedAt === undefined) {
            return instance?.removedAt === undefined ? wrong('it has not ended') : undefined;
          }
          if (exitCode !== undefined && exitCode !== instance.exitCode) {
            return wrong(`with exit code ${exitCode} instead of ${instance.exitCode}`);
          }
          return undefined;
        }
        case 'ContainerRemoved':
          return (instance ?? sandbox)?.removedAt === undefined ? wrong('it still exists') : undefined;
        default:
          return undefined;
      }
    },
  }),
};

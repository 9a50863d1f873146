import type { Edit, Mutant } from './mutants.js';

const powerMutant = (name: string, why: string, ...edits: readonly Edit[]): Mutant => ({
  ...{ name, why, edits },
  kind: 'power',
});

/** Mistakes that a loss of power shows. */
export const POWER_MUTANTS: readonly Mutant[] = [
  powerMutant('a boot is not noticed', 'the Node names a boot of the machine that is over', {
    file: 'src/model/node/node-status.ts',
    find: 'bootID: machine.bootId,',
    replace: 'bootID: old.nodeInfo?.bootID || machine.bootId,',
  }),
  powerMutant('an unknown end gets an exit code', 'the status shows a code that no runtime has shown', {
    file: 'src/model/pod-status/container-statuses.ts',
    find: '    exitCode: instance.exitCode,\n    reason: instance.reason,',
    replace: "    exitCode: instance.reason === 'Unknown' ? 1 : instance.exitCode,\n    reason: instance.reason,",
  }),
  powerMutant('a pull does not wait for its record', 'an image that was pulled counts as one that was there before', {
    file: 'src/streams/images/pull-ledger.ts',
    find: '      pullRecords.writeIntent(image),\n      defer(',
    replace: '      from([pullRecords.writeIntent(image).subscribe()]).pipe(ignoreElements()),\n      defer(',
  }),
  powerMutant('a Never pod is started again after a boot', 'a job that was cut short runs twice', {
    file: 'src/model/pod-actions/compute-pod-actions.ts',
    find: "pod.spec.restartPolicy === 'Never' && sandbox.attempt !== 0 && hasRun",
    replace: "pod.spec.restartPolicy === 'Never' && sandbox.attempt === 0 && hasRun",
  }),
  powerMutant('a start leaves no mark', 'a job runs twice whose start the runtime has forgotten', {
    file: 'src/streams/pod-sync/start-container.ts',
    find: 'markStart(context, containerId)',
    replace: 'of(markStart).pipe(ignoreElements())',
  }),
  powerMutant('the mark of a start is not kept', 'it is lost with the start that it stands for', {
    file: 'src/streams/pod-sync/begun-starts.ts',
    find: 'return context.ports.files.keepDirectory(mark, POD_DIRECTORY_MODE, context.ports.node.rootDirectory);',
    replace: 'return context.ports.files.makeDirectory(mark, POD_DIRECTORY_MODE);',
  }),
  powerMutant('an unknown state counts as never started', 'a job runs twice whose end the runtime has lost', {
    file: 'src/model/pod-actions/compute-pod-actions.ts',
    find: "const hasRun = status.containers.some(({ state }) => state !== 'created');",
    replace: "const hasRun = status.containers.some(({ state }) => state !== 'created' && state !== 'unknown');",
  }),
  powerMutant(
    'an end that only the status shows is forgotten',
    'what has succeeded runs again after the runtime has lost its end',
    {
      file: 'src/model/pod-actions/with-shown-ends.ts',
      find: 'if (ends.size === 0) return status;',
      replace: 'if (ends.size >= 0) return status;',
    },
  ),
  powerMutant(
    'a container of an unknown state is not stopped',
    'its pod never ends, since no new sandbox is made for it',
    {
      file: 'src/model/pod-actions/stopping.ts',
      find: "({ state }) => state === 'running' || state === 'unknown'",
      replace: "({ state }) => state === 'running'",
    },
  ),
  powerMutant(
    'the directory of a volume counts as the volume',
    'a container writes to the disk what belongs into memory',
    {
      file: 'src/streams/volumes/volume-operations.ts',
      find: 'if (!payload) return volumeFiles.setUp(setup).pipe(ignoreElements());',
      replace: `if (!payload) return volumeFiles.found(setup.directory.split('/volumes/')[0]!).pipe(
            concatMap((found) => found.some(({ name }) => name === volume.name) ? EMPTY : volumeFiles.setUp(setup).pipe(ignoreElements())),
          );`,
    },
  ),
];

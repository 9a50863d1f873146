import type { WorldEvent } from '../../../../src/tools/sim/world/world-event.js';
import { agentStarted, begin, call, exited, pass, pull, type Rows, shown, started } from '../story.js';

const booted = (at: number, bootId: string): WorldEvent => ({ kind: 'booted', at: at * 1000, bootId });
const nodeOf = (at: number, bootID: string): WorldEvent => ({
  ...{ kind: 'api-changed', at: at * 1000, resource: 'nodes', type: 'MODIFIED', by: 'agent' },
  object: {
    metadata: { name: 'node-1', uid: 'node', resourceVersion: '1' },
    status: { nodeInfo: { bootID } },
  },
});
const intent = (at: number, isOnDisk: boolean, image = 'host'): WorldEvent => ({
  ...{ kind: 'pull-intent', at: at * 1000, image, isOnDisk },
});
const ended = (at: number, exitCode: number, reason = 'Error', id = 'a'): WorldEvent =>
  shown(at, {
    phase: 'Running',
    containerStatuses: [
      {
        ...{ name: 'main', image: 'host', imageID: 'host', ready: false, restartCount: 0, containerID: `sim://${id}` },
        state: { terminated: { exitCode, reason, containerID: `sim://${id}` } },
      },
    ],
  });

/** Stories of losses of power. */
export const powerRows: Rows = {
  'ends-are-true': [
    ['the code of its end', [begin, started(1, 'a'), exited(2, 'a', 3), pass(3), ended(4, 3)]],
    ['another code', [begin, started(1, 'a'), exited(2, 'a', 3), pass(3), ended(4, 0)], 'shows exit code 0 (Error)'],
    [
      'a code that the runtime has lost since',
      [begin, started(1, 'a'), exited(2, 'a', 3), exited(5, 'a', 255), ended(6, 3)],
    ],
    ['it could not be located', [begin, started(1, 'a'), exited(2, 'a', 3), ended(4, 137, 'ContainerStatusUnknown')]],
    ['137 for another reason', [begin, started(1, 'a'), exited(2, 'a', 3), ended(4, 137)], 'shows exit code 137'],
    [
      'the code of an instance before',
      [begin, started(1, 'a'), exited(2, 'a', 3), started(3, 'b'), exited(4, 'b', 4), ended(5, 3, 'Error', 'b')],
      'shows exit code 3',
    ],
  ],
  'boot-is-known': [
    ['it is named', [agentStarted(0), booted(5, 'two'), agentStarted(5, 2), nodeOf(6, 'two')]],
    [
      'the one before is named',
      [agentStarted(0), nodeOf(1, 'one'), booted(5, 'two'), agentStarted(5, 2)],
      'the node names boot one',
    ],
    ['the machine has not booted', [agentStarted(0), nodeOf(1, 'one')]],
    ['the agent has just started', [agentStarted(0), nodeOf(1, 'one'), booted(5, 'two'), agentStarted(990, 2)]],
  ],
  'pulls-are-recorded': [
    ['it is on the disk', [begin, pass(1), intent(2, true), pull(3)]],
    ['it is not', [begin, pass(1), pull(3)], 'host is pulled without an intent on the disk'],
    ['it was removed', [begin, pass(1), intent(2, true), intent(3, false), pull(4)], 'without an intent'],
    ['it is of another image', [begin, pass(1), intent(2, true, 'other'), pull(4)], 'without an intent'],
    ['no pull', [begin, pass(1), call(2, 'ImageStatus')]],
  ],
};

// The command line over a kubelet that does nothing but be there, for what the process around the loop does by itself.
import { defer, EMPTY, NEVER, of, throwError, timer } from 'rxjs';
import type { CreateKubelet } from '../../../src/cli/kubelet/kubelet-handle.js';
import { noStreaming } from '../../../src/streams/ports/streaming-service.js';
import { runProgram } from '../../../src/cli/program.js';

const kind = process.env.FAKE_KUBELET ?? 'endless';

const createKubelet: CreateKubelet = ({ nodeName, log }) => ({
  run$: defer(() => {
    // It says something whenever a test asks for it.
    process.on('SIGUSR2', () => log.info({}, 'a line'));
    log.info({ node: nodeName }, 'the loop runs');
    if (kind === 'once') return timer(1);
    return kind === 'broken' ? throwError(() => new Error('the loop is broken')) : NEVER;
  }),
  stopPods$: kind === 'unstoppable' ? NEVER : EMPTY,
  pods: () => [{ metadata: { name: 'web', namespace: 'default', uid: 'u1' }, spec: { containers: [{ name: 'a' }] } }],
  pod$: of([]),
  known: () => Promise.resolve(),
  runningPods: () => [],
  podChange$: NEVER,
  findRunning: () => undefined,
  streaming: noStreaming,
  reviewApi: { request: () => EMPTY },
  servingCertificate$: NEVER,
  runtime: { containerStatus: () => EMPTY, execSync: () => EMPTY, checkpointContainer: () => EMPTY },
  note$: NEVER,
  stats: { resources$: NEVER, summary$: NEVER, cgroups$: NEVER, runtimeMetrics$: NEVER, logs$: of([]) },
  healthChecks: { syncloop: () => undefined },
});

await runProgram(process.argv.slice(2), () => Promise.resolve(createKubelet));

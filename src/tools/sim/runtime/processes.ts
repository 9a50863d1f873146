import type { Subscription } from 'rxjs';
import { CriError } from '../../../model/cri/cri-error.js';
import { parseContainerAnnotations } from '../../../model/cri/labels.js';
import { absolutePath } from '../../../model/cri/absolute-path.js';
import { type SimulatedContainer, UNKNOWN_END } from './container.js';
import type { EventStream } from './event-stream.js';
import type { RuntimeWorld } from './runtime-world.js';

const KILLED = 137;
const TERMINATED = 143;
const CANNOT_START = 128;

/** The processes of containers. The daemon starts them; then they live by their behaviour, even without the daemon. */
export class Processes {
  /** The timers of their ends, by themselves or by the stop signal. */
  readonly #ends = new Map<SimulatedContainer, Subscription[]>();

  constructor(
    private readonly world: RuntimeWorld,
    private readonly events: EventStream,
    private readonly stamp: () => bigint,
  ) {}

  /**
   * Calls `done` once the process runs, or with the reason why it does not. The returned function cancels the start
   * while it is pending.
   */
  start(container: SimulatedContainer, done: (error?: CriError) => void): (how: 'ends' | 'stays') => void {
    const startsAfterMs = container.sandbox.isReady ? (container.behaviour.startsAfterMs ?? 0) : 0;
    container.isStarting = true;
    this.world.disk.writeLog(container.logPath, container.behaviour.logBytesPerSecond ?? 0);
    const launch = () => {
      container.isStarting = false;
      const problem = this.#startProblem(container);
      if (problem === undefined) this.#run(container);
      else this.#end(container, CANNOT_START, 'StartError', problem);
      done(problem === undefined ? undefined : new CriError('unknown', 'StartContainer', problem));
    };
    if (startsAfterMs === 0) {
      launch();
      return () => undefined;
    }
    const launching = this.world.daemon().schedule(launch, startsAfterMs);
    return (how) => {
      if (!container.isStarting) return;
      launching.unsubscribe();
      container.isStarting = false;
      if (how === 'ends') this.#end(container, CANNOT_START, 'StartError', 'context canceled');
    };
  }

  /** Sends the stop signal once, even if called several times. */
  askToStop(container: SimulatedContainer): void {
    if (!container.isRunning || container.isAskedToStop) return;
    container.isAskedToStop = true;
    const { onStop = { kind: 'exits', afterMs: 0 } } = container.behaviour;
    if (onStop.kind === 'hangs') return;
    this.#endLater(container, onStop.afterMs, () => this.exit(container, onStop.exitCode ?? TERMINATED));
  }

  kill(container: SimulatedContainer): void {
    this.exit(container, KILLED);
  }

  /** Ends the process now; does nothing if it does not run. */
  exit(container: SimulatedContainer, exitCode: number, reason = exitCode === 0 ? 'Completed' : 'Error'): void {
    if (container.isRunning) this.#end(container, exitCode, reason, '');
  }

  /** Ends a container whose state is unknown. */
  endUnknown(container: SimulatedContainer): void {
    this.#end(container, UNKNOWN_END.exitCode, UNKNOWN_END.reason, UNKNOWN_END.message);
  }

  /** The machine has lost its power: the process is gone without an end of its own. */
  vanish(container: SimulatedContainer): void {
    for (const end of this.#ends.get(container) ?? []) end.unsubscribe();
    this.#ends.delete(container);
    container.whenExited.clear();
    container.isStarting = false;
    this.world.disk.endLog(container.logPath);
  }

  #startProblem({ sandbox, behaviour }: SimulatedContainer): string | undefined {
    if (!sandbox.isReady) return `sandbox container "${sandbox.id}" is not running`;
    return behaviour.startError;
  }

  #run(container: SimulatedContainer): void {
    const { scheduler, tell } = this.world;
    const { exitsAfterMs, outOfMemory = false, exitCode = outOfMemory ? KILLED : 0 } = container.behaviour;
    container.started(this.stamp(), scheduler.now());
    this.#writeFiles(container);
    tell({ kind: 'container-started', at: scheduler.now(), ...container.told });
    this.events.send('STARTED', container.id, container.sandbox);
    if (exitsAfterMs === undefined) return;
    const reason = outOfMemory ? 'OOMKilled' : undefined;
    this.#endLater(container, exitsAfterMs, () => this.exit(container, exitCode, reason));
  }

  #endLater(container: SimulatedContainer, afterMs: number, end: () => void): void {
    if (afterMs <= 0) return end();
    const ends = this.#ends.get(container) ?? [];
    this.#ends.set(container, [...ends, this.world.scheduler.schedule(end, afterMs)]);
  }

  #end(container: SimulatedContainer, exitCode: number, reason: string, message: string): void {
    const { scheduler, tell, disk } = this.world;
    for (const end of this.#ends.get(container) ?? []) end.unsubscribe();
    this.#ends.delete(container);
    this.#writeTerminationMessage(container);
    disk.endLog(container.logPath);
    container.ended({ at: this.stamp(), exitCode, reason, message }, scheduler.now());
    tell({ kind: 'container-exited', at: scheduler.now(), exitCode, ...container.told });
    // A process that was never started has no end event.
    if (container.startedAtMs !== undefined) this.events.send('STOPPED', container.id, container.sandbox);
    const waiting = [...container.whenExited];
    container.whenExited.clear();
    for (const done of waiting) done();
  }

  /** A path that is in none of its volumes stays in the container, where nothing reads it. */
  #writeFiles({ behaviour: { writes = {} }, mounts }: SimulatedContainer): void {
    for (const [path, text] of Object.entries(writes)) {
      const [mount] = mounts
        .filter(({ containerPath }) => path.startsWith(`${containerPath}/`))
        .sort((one, other) => other.containerPath.length - one.containerPath.length);
      if (!mount || mount.readonly) continue;
      this.world.disk.writeInside(mount.hostPath, path.slice(mount.containerPath.length + 1), text);
    }
  }

  #writeTerminationMessage({ behaviour, annotations, mounts }: SimulatedContainer): void {
    if (behaviour.terminationMessage === undefined) return;
    const path = absolutePath(parseContainerAnnotations(annotations).terminationMessagePath);
    const mount = mounts.find(({ containerPath }) => containerPath === path);
    if (mount) this.world.disk.writeText(mount.hostPath, behaviour.terminationMessage);
  }
}

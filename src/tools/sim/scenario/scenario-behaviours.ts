import type { CommandBehaviour, InstanceBehaviour, NodeBehaviours } from '../world/behaviour.js';
import { type Container, isSidecar, type LifecycleHandler } from '../../../model/pod/pod.js';
import type { HookScript, InstanceScript, Scenario } from './scenario.js';
import { assumedEnvFiles } from './assumed-env-files.js';
import { containersIn, type NamedPod } from './scenario-mismatches.js';

/** An init container has to end some time; this is the default. */
const INIT_RUNS_MS = 1000;

/**
 * Returns the world of a scenario for these pods: every container by its full name, hooks by their commands. An init
 * container that the scenario does not name succeeds after a second. Containers without `writes` write the env files of their
 * pod.
 */
export const scenarioBehaviours = (
  { containers, images, node: { eventedPleg: _, ...node } }: Scenario,
  pods: readonly NamedPod[],
): NodeBehaviours => {
  const written = assumedEnvFiles(pods);
  return {
    ...node,
    images,
    containers: Object.fromEntries(
      containersIn(pods).flatMap(({ pod, container, isInit }) => {
        const name = `${pod}/${container.name}`;
        const own = containers[name] ?? containers[container.name];
        const others = containers['*'];
        const scripts = own ?? (isInit && !isSidecar(container) ? (others ?? [{}]).map(ending) : others);
        const files = written.get(name);
        const assumed = files && (scripts ?? [{}]).map((script) => ({ writes: files, ...script }));
        const given = assumed ?? scripts;
        return given ? [[name, given.map((script) => behaviourOf(script, container))]] : [];
      }),
    ),
  };
};

const ending = (script: InstanceScript): InstanceScript => ({ exitsAfterMs: INIT_RUNS_MS, ...script });

const behaviourOf = ({ postStart, preStop, ...behaviour }: InstanceScript, container: Container): InstanceBehaviour => {
  const { lifecycle } = container;
  const commands = [...commandOf(lifecycle?.postStart, postStart), ...commandOf(lifecycle?.preStop, preStop)];
  return commands.length === 0 ? behaviour : { ...behaviour, commands };
};

const commandOf = (
  handler: LifecycleHandler | undefined,
  script: HookScript | undefined,
): readonly CommandBehaviour[] =>
  handler?.exec?.command && script ? [{ contains: handler.exec.command.join(' '), ...script }] : [];

import type { CommandBehaviour, InstanceBehaviour, NodeBehaviours } from '../behaviour.js';
import type { Container, LifecycleHandler } from '../../model/pod.js';
import type { HookScript, InstanceScript, Scenario } from './scenario.js';
import { containersIn, type NamedPod } from './scenario-mismatches.js';

/** The world of a scenario for these pods: every container by its full name, hooks by their commands. */
export const scenarioBehaviours = (
  { containers, images, node: { eventedPleg: _, ...node } }: Scenario,
  pods: readonly NamedPod[],
): NodeBehaviours => ({
  ...node,
  images,
  containers: Object.fromEntries(
    containersIn(pods).flatMap(({ pod, container }) => {
      const name = `${pod}/${container.name}`;
      const scripts = containers[name] ?? containers[container.name] ?? containers['*'];
      return scripts ? [[name, scripts.map((script) => behaviourOf(script, container))]] : [];
    }),
  ),
});

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

import { Argument, type Command, Option } from 'commander';
import type { AttachFlags } from './commands/attach.js';
import type { CopyFlags } from './commands/cp.js';
import type { DescribeFlags } from './commands/describe.js';
import type { ExecFlags } from './commands/exec.js';
import type { ForwardFlags } from './commands/port-forward.js';
import type { TopFlags } from './commands/top.js';
import { rootDirOption } from './arguments/run-flags.js';

const POD = 'a name, name_namespace or a UID';
export const POD_CONTAINER = `${POD}; CONTAINER is as -c`;
const namespace = ['-n, --namespace <name>', 'the namespace of the pod (default: all)'] as const;
const ofPod = ['-c, --container <name>', 'default: the default container of the pod, or its first one'] as const;

/**
 * Adds the commands that use a running agent as kubectl uses a cluster. `args` is the command line, of which commander keeps no
 * trace of `--`.
 */
export const addLocalCommands = (program: Command, args: readonly string[]): void => {
  const dashes = args.indexOf('--');
  const afterDashes = dashes < 0 ? 0 : args.length - dashes - 1;

  program
    .command('exec')
    .description('run a command in a container')
    .usage('[options] <POD[/CONTAINER]> -- COMMAND [ARGUMENT...]')
    .addArgument(new Argument('[POD[/CONTAINER]]', POD_CONTAINER))
    .addArgument(new Argument('[COMMAND...]', 'the command and its arguments, after --'))
    .option(...ofPod)
    .option(...namespace)
    .option('-i, --stdin', 'pass standard input to the command', false)
    .option('-t, --tty', 'run it on a terminal; needs -i', false)
    .option('-q, --quiet', 'print the output of the command only', false)
    .addOption(rootDirOption())
    .action(async (_pod: string, _command: unknown, flags: ExecFlags, command: Command) => {
      const { execInContainer } = await import('./commands/exec.js');
      await execInContainer(command.args, afterDashes, flags);
    });

  program
    .command('port-forward')
    .description('forward ports of this machine to a pod')
    .addArgument(new Argument('<POD>', POD))
    .addArgument(new Argument('<[LOCAL:]REMOTE...>', 'ports; without LOCAL the same, with an empty one a free port'))
    .option(...namespace)
    .option('--address <addresses>', 'where to listen: addresses with commas, or localhost', 'localhost')
    .addOption(rootDirOption())
    .action(async (pod: string, ports: string[], flags: ForwardFlags) => {
      const { forwardToPod } = await import('./commands/port-forward.js');
      await forwardToPod(pod, ports, flags);
    });

  program
    .command('cp')
    .description('copy files from or to a container, by tar')
    .addArgument(new Argument('<SOURCE>', 'POD:PATH, NAMESPACE/POD:PATH or a path of this machine'))
    .addArgument(new Argument('<TARGET>', 'the same; one of the two is of a pod'))
    .option(...ofPod)
    .option(...namespace)
    .option('--no-preserve', 'do not keep owners and modes in the container')
    .addOption(rootDirOption())
    .action(async (source: string, target: string, flags: CopyFlags) => {
      const { copyFiles } = await import('./commands/cp.js');
      await copyFiles(source, target, flags);
    });

  program
    .command('attach')
    .description('attach to the output of a running container')
    .addArgument(new Argument('<POD[/CONTAINER]>', POD_CONTAINER))
    .option(...ofPod)
    .option(...namespace)
    .option('-i, --stdin', 'pass standard input to the container', false)
    .option('-t, --tty', 'expect a terminal of the container', false)
    .option('-q, --quiet', 'print the output of the container only', false)
    .addOption(rootDirOption())
    .action(async (target: string, flags: AttachFlags) => {
      const { attachToContainer } = await import('./commands/attach.js');
      await attachToContainer(target, flags);
    });

  program
    .command('top')
    .description('print the use of CPU and memory')
    .addArgument(new Argument('<node|pod>', 'the node, or its pods'))
    .addArgument(new Argument('[POD[/CONTAINER]]', `${POD}, or one container of it (default: all pods)`))
    .option(...namespace)
    .option('--containers', 'a line for each container', false)
    .addOption(new Option('--sort-by <amount>', 'the larger amount first').choices(['cpu', 'memory']))
    .option('--no-headers', 'print no headings')
    .addOption(rootDirOption())
    .action(async (kind: string, pod: string | undefined, flags: TopFlags) => {
      const { printTop } = await import('./commands/top.js');
      await printTop(kind, pod, flags);
    });

  program
    .command('describe')
    .description('print a pod: spec, status, events, and why it is in its state')
    .addArgument(new Argument('<POD[/CONTAINER]>', `${POD}, or one container of it`))
    .option(...namespace)
    .addOption(rootDirOption())
    .action(async (pod: string, flags: DescribeFlags) => {
      const { printDescription } = await import('./commands/describe.js');
      await printDescription(pod, flags, Date.now());
    });
};

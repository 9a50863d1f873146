import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { parseGoDuration } from '../model/values/go-duration.js';
import { errorText } from '../model/cri/cri-error.js';
import { closestName } from '../model/manifest/closest-name.js';
import { endWithOutput } from './process/closed-output.js';
import type { PlanCommand } from './commands/plan.js';
import type { ValidateOptions } from './commands/validate.js';
import type { TimelineOptions } from './commands/timeline.js';
import { logDate, logDuration, type LogFlags, logNumber } from './logs/log-flags.js';
import type { ReplayFlags } from './commands/replay.js';
import type { CreateKubelet } from './kubelet/kubelet-handle.js';
import { addLocalCommands, POD_CONTAINER } from './local-commands.js';
import { addRunFlags, commonForms, featureGatesOption, readRunFlags, rootDirOption } from './arguments/run-flags.js';
import { packageVersion } from './process/version.js';

/** Loads the composition of the kubelet; only `run` needs it. */
export type LoadKubelet = () => Promise<CreateKubelet>;

/**
 * Runs one command line to its end; the exit code is in `process.exitCode`. Modules of a command are loaded when it
 * runs.
 *
 * Errors: none; a failure is one line `Error: ...` on stderr and exit code 1.
 */
export const runProgram = async (args: readonly string[], loadKubelet: LoadKubelet): Promise<void> => {
  endWithOutput();
  // Node would open its debugger on a port.
  process.on('SIGUSR1', () => undefined);
  try {
    await createProgram(loadKubelet, args).parseAsync(commonForms(args), { from: 'user' });
  } catch (error) {
    fail(errorText(error));
  }
};

const fail = (message: string): void => {
  process.stderr.write(`Error: ${message.replace(/\s*\n\s*/g, ' ')}\n`);
  process.exitCode = 1;
};

const columns = (text: string): number => {
  if (!/^\d{2,4}$/.test(text) || Number(text) < 20) throw new InvalidArgumentError('expected 20 to 9999 columns');
  return Number(text);
};

type PlanFlags = Omit<PlanCommand, 'forMs'> & { readonly for: number };

/** Milliseconds, more than 0. */
const spanOf = (text: string): number => {
  const milliseconds = parseGoDuration(text) ?? 0;
  if (milliseconds <= 0) throw new InvalidArgumentError('expected a duration such as 1h or 1m30s, more than 0');
  return milliseconds;
};

const suggestion = (closest: string | undefined): string =>
  closest === undefined ? '' : ` (Did you mean ${closest}?)`;

/** The error of an option that the command `run` does not have. The kubelet has a flag for nearly every field of its configuration. */
const unknownOption = async (option: string, { options }: Command): Promise<Error> => {
  const { fieldOfFlag } = await import('./config/fields/field-of-flag.js');
  const [flag = ''] = option.split('=');
  const field = fieldOfFlag(flag);
  if (field !== undefined) return new Error(`unknown option '${flag}' (set ${field} in the file of --config)`);
  const known = options.flatMap(({ long }) => long ?? []);
  return new Error(`unknown option '${option}'${suggestion(closestName(flag, known))}`);
};

const createProgram = (loadKubelet: LoadKubelet, args: readonly string[]): Command => {
  const program = new Command('rx-kubelet')
    .description('A Kubernetes node agent')
    .version(`rx-kubelet ${packageVersion()}`, '--version')
    .configureOutput({ outputError: (text) => fail(text.trim().replace(/^error: /, '')) });

  addRunFlags(program.command('run', { isDefault: true }))
    .description('run the pods of manifests on this machine (the default)')
    .allowExcessArguments(true)
    .allowUnknownOption(true)
    .action(async (options: Record<string, unknown>, command: Command) => {
      const [stray] = command.args;
      if (stray?.startsWith('-')) throw await unknownOption(stray, command);
      if (stray !== undefined) {
        const names = program.commands.map((one) => one.name());
        throw new Error(`unknown command ${stray}${suggestion(closestName(stray, names))}`);
      }
      const { runAgent } = await import('./run/run.js');
      await runAgent(readRunFlags(options), await loadKubelet());
      // Unused connections must not keep the process running.
      process.exit();
    });

  program
    .command('pods')
    .description('list the pods of the agent that runs on this machine')
    .addOption(rootDirOption())
    .addOption(new Option('-o, --output <format>', 'how').choices(['table', 'wide', 'json']).default('table'))
    .action(async ({ rootDir, output }: { rootDir: string; output: 'table' | 'wide' | 'json' }) => {
      const [{ printPods }, { pathsFor }] = await Promise.all([
        import('./commands/pods.js'),
        import('./arguments/prepare-run.js'),
      ]);
      await printPods(pathsFor(rootDir), { output });
    });

  program
    .command('logs')
    .description('print the log of a container, also while no agent runs')
    .addArgument(new Argument('<POD[/CONTAINER]>', POD_CONTAINER))
    .addArgument(new Argument('[CONTAINER]', 'default: the default container of the pod, or its first one'))
    .option('-c, --container <name>', 'the container')
    .option('-n, --namespace <name>', 'the namespace of the pod (default: all)')
    .option('-f, --follow', 'go on with new lines until the container ends', false)
    .option('-p, --previous', 'the instance of the container before the current one', false)
    .option('--timestamps', 'print the time of each line before it', false)
    .addOption(
      new Option('--tail <lines>', 'the last lines of the log file').argParser(logNumber).default(-1, '-1, all lines'),
    )
    .addOption(
      new Option('--since <duration>', 'lines of the last 5s, 2m or 3h').argParser(logDuration).default(0, 'all'),
    )
    .addOption(new Option('--since-time <date>', 'lines from this time on (RFC 3339)').argParser(logDate))
    .addOption(
      new Option('--limit-bytes <bytes>', 'the most bytes of output').argParser(logNumber).default(0, '0, no limit'),
    )
    .addOption(
      new Option('--stream <stream>', 'the stream of the container')
        .choices(['stdout', 'stderr', 'all'])
        .default('all'),
    )
    .addOption(rootDirOption())
    .addOption(new Option('--pod-logs-dir <path>', 'directory of container logs').default('', 'that of the agent'))
    .addOption(
      new Option('--container-runtime-endpoint <socket>', 'socket of the CRI runtime').default('', 'that of the agent'),
    )
    .action(async (target: string, container: string | undefined, flags: LogFlags) => {
      const { printLogs } = await import('./commands/logs.js');
      await printLogs(target, container, flags, Date.now());
    });

  addLocalCommands(program, args);

  program
    .command('why')
    .description('explain the state of a pod, or of one of its containers, from the journal')
    .addArgument(new Argument('<POD[/CONTAINER]>', 'POD is a name, name_namespace or a UID'))
    .addOption(rootDirOption())
    .action(async (target: string, { rootDir }: { rootDir: string }) => {
      const [{ printWhy }, { pathsFor }] = await Promise.all([
        import('./commands/why.js'),
        import('./arguments/prepare-run.js'),
      ]);
      printWhy(pathsFor(rootDir), target, Date.now());
    });

  program
    .command('timeline')
    .description('draw the life of a pod as lanes, from the journal or a recording')
    .addArgument(new Argument('<POD>', 'a name, name_namespace or a UID'))
    .addOption(rootDirOption())
    .option('--recording <file>', 'read this recording instead of the journal')
    .option('--since <time>', 'beginning: a date, or a duration before now such as 10m')
    .option('--until <time>', 'end there')
    .addOption(new Option('-o, --output <format>', 'how').choices(['text', 'json', 'svg', 'html']).default('text'))
    .option('--output-file <file>', 'file for the output (default: standard output)')
    .addOption(
      new Option(
        '--width <columns>',
        'columns of the text, pixels of svg (default: the width of the terminal)',
      ).argParser(columns),
    )
    .option('--ascii', 'draw the text with ASCII characters', false)
    .option('--no-fold', 'draw stretches without events to scale')
    .action(async (pod: string, { rootDir, ...options }: TimelineOptions & { rootDir: string }) => {
      const [{ printTimeline }, { pathsFor }] = await Promise.all([
        import('./commands/timeline.js'),
        import('./arguments/prepare-run.js'),
      ]);
      printTimeline(pathsFor(rootDir), pod, options, Date.now());
    });

  program
    .command('validate')
    .description('check manifests and print every problem with its file, line and column')
    .addArgument(new Argument('<FILE...>', 'files, folders, or - for standard input'))
    .addOption(new Option('-o, --output <format>', 'how').choices(['text', 'json']).default('text'))
    .option('--cluster', 'for a node of a cluster, where a manifest neither holds nor names ConfigMaps and Secrets')
    .addOption(featureGatesOption())
    .action(async (files: string[], options: ValidateOptions) => {
      const { validateManifests } = await import('./commands/validate.js');
      await validateManifests(files, options);
    });

  program
    .command('plan')
    .description('run pods of manifests in a simulated node, and print their course')
    .addArgument(new Argument('<FILE...>', 'manifests: files, folders, or - for standard input'))
    .option('--scenario <file>', 'behaviour of containers, images and the node (default: without failures)')
    .addOption(
      new Option('--for <duration>', 'duration, after which the pods are deleted')
        .argParser(spanOf)
        .default(3_600_000, '1h'),
    )
    .addOption(new Option('--seed <seed>', 'seed of random values, such as jitter').default('1'))
    .addOption(new Option('-o, --output <format>', 'how').choices(['text', 'json', 'svg', 'html']).default('text'))
    .option('--output-file <file>', 'file for the output (default: standard output)')
    .addOption(featureGatesOption())
    .action(async (files: string[], { for: forMs, ...options }: PlanFlags) => {
      const { planPods } = await import('./commands/plan.js');
      await planPods(files, { ...options, forMs });
    });

  program
    .command('replay')
    .description('replay a recording of run --record with this version, and print the first difference')
    .addArgument(new Argument('<FILE>', 'file written by run --record'))
    .option('--until <time>', 'end: a duration since the beginning such as 10m, or a date')
    .option('--pod <name>', 'show the actions of the agent for this pod')
    .option('--to-test <file>', 'write a simulation test of the incident, for vitest; an existing file is not replaced')
    .addOption(new Option('-o, --output <format>', 'how').choices(['text', 'json']).default('text'))
    .action(async (file: string, flags: ReplayFlags) => {
      const { replayRecording } = await import('./commands/replay.js');
      replayRecording(file, flags);
    });

  program
    .command('runtime')
    .description('serve the embedded container runtime; run starts it by itself')
    .addOption(rootDirOption())
    .option('--socket <path>', 'socket of the CRI')
    .option('--state-dir <folder>', 'directory of its state')
    .action(async ({ rootDir, socket, stateDir }: { rootDir: string; socket?: string; stateDir?: string }) => {
      const [{ serveRuntime }, { pathsFor }, { createLogger }, { stopSignal }, { buildOf }] = await Promise.all([
        import('./commands/runtime.js'),
        import('./arguments/prepare-run.js'),
        import('./process/logger.js'),
        import('./process/stop-signal.js'),
        import('./process/build-of.js'),
      ]);
      const { embedded } = pathsFor(rootDir);
      const log = createLogger({
        verbosity: 0,
        form: process.stderr.isTTY ? 'terminal' : 'json',
        write: (line) => void process.stderr.write(line),
      });
      const options = {
        socketPath: socket ?? embedded.socketPath,
        stateDirectory: stateDir ?? embedded.stateDirectory,
        version: packageVersion(),
        build: buildOf(packageVersion()),
      };
      await serveRuntime({ ...options, log }, stopSignal());
      process.exit();
    });

  return program;
};

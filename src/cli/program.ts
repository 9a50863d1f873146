import { Argument, Command, Option } from 'commander';
import type { CreateKubelet } from './kubelet-handle.js';
import { addRunFlags, readRunFlags, withDashes } from './run-flags.js';
import { packageVersion } from './version.js';

/** Loads the composition of the kubelet; only `run` pays for it. */
export type LoadKubelet = () => Promise<CreateKubelet>;

/**
 * Runs one command line to its end; the exit code is in `process.exitCode`. What a command needs is loaded when it runs.
 *
 * Errors: none; a failure is one line `Error: ...` on stderr and exit code 1.
 */
export const runProgram = async (args: readonly string[], loadKubelet: LoadKubelet): Promise<void> => {
  try {
    await createProgram(loadKubelet).parseAsync(withDashes(args), { from: 'user' });
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error));
  }
};

const fail = (message: string): void => {
  process.stderr.write(`Error: ${message.replace(/\s*\n\s*/g, ' ')}\n`);
  process.exitCode = 1;
};

const rootDirOption = (): Option => new Option('--root-dir <folder>', 'where the agent keeps its state').default('');

const createProgram = (loadKubelet: LoadKubelet): Command => {
  const program = new Command('rx-kubelet')
    .description('A Kubernetes node agent')
    .version(`rx-kubelet ${packageVersion()}`, '--version')
    .configureOutput({ outputError: (text) => fail(text.trim().replace(/^error: /, '')) });

  addRunFlags(program.command('run', { isDefault: true }))
    .description('run the pods of manifests on this machine (the default)')
    .allowExcessArguments(true)
    .action(async (options: Record<string, unknown>, command: Command) => {
      const [stray] = command.args;
      if (stray !== undefined) throw new Error(`unknown command ${stray}`);
      const { runAgent } = await import('./run.js');
      await runAgent(readRunFlags(options), await loadKubelet());
      // Connections that nobody needs any more must not keep the process.
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
        import('./prepare-run.js'),
      ]);
      await printPods(pathsFor(rootDir), { output });
    });

  program
    .command('why')
    .description('explain the state of a pod, or of one of its containers, from the journal')
    .addArgument(new Argument('<POD[/CONTAINER]>', 'POD is a name, name_namespace or a UID'))
    .addOption(rootDirOption())
    .action(async (target: string, { rootDir }: { rootDir: string }) => {
      const [{ printWhy }, { pathsFor }] = await Promise.all([import('./commands/why.js'), import('./prepare-run.js')]);
      printWhy(pathsFor(rootDir).journalDir, target, Date.now());
    });

  program
    .command('validate')
    .description('check manifests; every problem has its file, line and column')
    .addArgument(new Argument('<FILE...>', 'files, folders, or - for standard input'))
    .addOption(new Option('-o, --output <format>', 'how').choices(['text', 'json']).default('text'))
    .action(async (files: string[], { output }: { output: 'text' | 'json' }) => {
      const { validateManifests } = await import('./commands/validate.js');
      await validateManifests(files, { output });
    });

  program
    .command('runtime')
    .description('serve the embedded container runtime by hand; run does this by itself')
    .addOption(rootDirOption())
    .option('--socket <path>', 'where it serves CRI')
    .option('--state-dir <folder>', 'where it keeps its state')
    .action(async ({ rootDir, socket, stateDir }: { rootDir: string; socket?: string; stateDir?: string }) => {
      const [{ serveRuntime }, { pathsFor }, { createLogger }, { stopSignal }] = await Promise.all([
        import('./commands/runtime.js'),
        import('./prepare-run.js'),
        import('./logger.js'),
        import('./stop-signal.js'),
      ]);
      const { embedded } = pathsFor(rootDir);
      const log = createLogger({
        verbosity: 0,
        forPeople: process.stderr.isTTY,
        write: (line) => void process.stderr.write(line),
      });
      const options = {
        socketPath: socket ?? embedded.socketPath,
        stateDirectory: stateDir ?? embedded.stateDirectory,
      };
      await serveRuntime({ ...options, log }, stopSignal());
      process.exit();
    });

  return program;
};

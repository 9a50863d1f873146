import { concatMap, from, type Observable, type OperatorFunction } from 'rxjs';
import type { Isolation } from '../../confinement/isolation.js';
import { startProcess } from '../../machine/machine.js';
import type { TerminalSize } from '../terminal-size.js';

/**
 * Sets each size on the terminal, one after the other; the kernel notifies the programs in the foreground. Errors: a
 * process could not be started.
 */
export const resizeTerminal =
  (terminal: Promise<string | undefined>, { tools }: Isolation): OperatorFunction<TerminalSize, unknown> =>
  (source: Observable<TerminalSize>) =>
    source.pipe(
      concatMap((size) =>
        from(
          terminal.then(async (device) => {
            if (device === undefined) return;
            const sides = ['rows', String(size.height), 'cols', String(size.width)];
            const child = await startProcess(tools.get('stty') ?? 'stty', ['-F', device, ...sides], {
              stdio: 'ignore',
            });
            await new Promise((resolve) => child.once('exit', resolve));
          }),
        ),
      ),
    );

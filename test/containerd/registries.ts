import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const script = fileURLToPath(new URL('stage/registry.sh', import.meta.url));

export interface Registries {
  /**
   * `127.0.0.1:<port>`, as it begins the name of an image: `<address>/busybox:1`, `<address>/server:1`. Also reached as
   * `registry.stage.test`.
   */
  readonly open: string;
  /** Serves the same images to each client with the password. */
  readonly locked: { readonly address: string; readonly username: string; readonly password: string };
  /** What a registry was asked for, such as `GET /v2/server/manifests/1 200`. */
  readonly served: (which: 'open' | 'locked') => readonly string[];
}

/** Starts the registries of a stage that is up, unless they run; what they serve stays at the same addresses. */
export const startRegistries = async (stage: string): Promise<Registries> => {
  const { stdout } = await run(script, [stage]);
  const words = (which: string): string[] =>
    stdout
      .split('\n')
      .map((line) => line.split(' '))
      .find(([name]) => name === which)
      ?.slice(1) ?? [];
  const [open = ''] = words('open');
  const [address = '', username = '', password = ''] = words('locked');
  const lines = (which: string): string[] => readFileSync(join(stage, 'registry', `${which}.log`), 'utf8').split('\n');
  return {
    open,
    locked: { address, username, password },
    served: (which) =>
      lines(which).flatMap((line) => {
        const [, asked, status] = /"([A-Z]+ \S+) HTTP\/[\d.]+" (\d{3}) /.exec(line) ?? [];
        return asked ? [`${asked} ${status}`] : [];
      }),
  };
};

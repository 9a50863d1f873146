import { spawnSync } from 'node:child_process';
import { isCommand } from '../containerd/lacking.js';

/** Of Debian's package prometheus; the variable PROMTOOL names the one that `stage/promtool.sh` unpacks, or another. */
const promtool = process.env.PROMTOOL || 'promtool';
export const hasPromtool = isCommand(promtool);

/** Whether tests ask promtool. In CI they fail without one; elsewhere they are skipped, and `npm test` says so first. */
export const asksPromtool = hasPromtool || process.env.CI === 'true';

/**
 * What `promtool check metrics` says about a text: the code is 0 without a complaint, 3 with some, such as
 * `a counter metrics should have "_total" suffix`, and 1 for a text that Prometheus refuses. Errors: it cannot be run.
 */
export const promtoolVerdict = (text: string): { readonly code: number | null; readonly said: readonly string[] } => {
  const { error, status, stderr } = spawnSync(promtool, ['check', 'metrics'], { input: text, encoding: 'utf8' });
  if (error) throw new Error('promtool cannot be run; test/embedded/stage/promtool.sh unpacks it', { cause: error });
  return { code: status, said: stderr.split('\n').filter((line) => line !== '') };
};

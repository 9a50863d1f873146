import type { Daemon } from '../embedded/daemon.js';

/** The numbers of an agent by their names, 0 for one that it does not have; labels are part of the name. */
export const metricsOf = async (daemon: Daemon): Promise<(name: string) => number> => {
  const { body } = await daemon.get('/metrics');
  const values = new Map<string, number>();
  for (const line of body.split('\n')) {
    const [name = '', value] = line.split(/ (?=[^ ]+$)/);
    if (!line.startsWith('#')) values.set(name, Number(value));
  }
  return (name) => values.get(name) ?? 0;
};

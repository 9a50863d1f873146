import type { ServiceLogQuery } from './node-log-query.js';

/** Prints the names of all units that have entries. */
export const UNIT_ARGUMENTS: readonly string[] = ['--field=_SYSTEMD_UNIT'];

/**
 * Returns the arguments of journalctl for a query. Each value is in the argument of its option, so that none can be an option. Times are
 * UTC, unlike upstream, where the zone of the client is dropped.
 *
 * Source: pkg/kubelet/kubelet_server_journal_linux.go getLoggingCmd
 */
export const journalctlArguments = ({
  services,
  options: { sinceTime, untilTime, tailLines, boot, pattern },
}: ServiceLogQuery): readonly string[] => [
  ...['--utc', '--no-pager', '--output=short-precise'],
  ...(sinceTime === undefined ? [] : [`--since=${timeText(sinceTime)}`]),
  ...(untilTime === undefined ? [] : [`--until=${timeText(untilTime)}`]),
  ...(tailLines === undefined ? [] : [`--lines=${tailLines}`]),
  ...services.map((service) => `--unit=${service}`),
  ...(pattern === undefined ? [] : [`--grep=${pattern}`, '--case-sensitive=false']),
  ...(boot === undefined ? [] : [`--boot=${boot}`]),
];

const timeText = (milliseconds: number): string =>
  `${new Date(milliseconds).toISOString().replace('T', ' ').slice(0, 19)} UTC`;

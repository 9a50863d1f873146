import type { InstantLook, Mark, SpanLook } from './lanes.js';

export interface Look {
  /** One column of a terminal; every column of a span. */
  readonly unicode: string;
  readonly ascii: string;
  /** The text of the legend. */
  readonly meaning: string;
}

export const SPAN_LOOKS: Readonly<Record<SpanLook, Look>> = {
  waiting: { unicode: '┄', ascii: '.', meaning: 'waiting' },
  created: { unicode: '╼', ascii: '-', meaning: 'created' },
  running: { unicode: '━', ascii: '=', meaning: 'running' },
  sync: { unicode: '▓', ascii: '#', meaning: 'sync' },
  stopping: { unicode: '▒', ascii: '%', meaning: 'stopping' },
  cleanup: { unicode: '░', ascii: '+', meaning: 'cleaning up' },
  'back-off': { unicode: '╌', ascii: '~', meaning: 'back-off' },
  call: { unicode: '▬', ascii: '=', meaning: 'call' },
  phase: { unicode: '─', ascii: '-', meaning: 'phase' },
  passing: { unicode: '─', ascii: '-', meaning: 'passing' },
  failing: { unicode: '┄', ascii: '.', meaning: 'failing' },
  away: { unicode: '╳', ascii: 'X', meaning: 'agent away' },
  unhealthy: { unicode: '╳', ascii: 'X', meaning: 'runtime down' },
};

export const INSTANT_LOOKS: Readonly<Record<InstantLook, Look>> = {
  change: { unicode: '◆', ascii: '*', meaning: 'change' },
  start: { unicode: '●', ascii: 'o', meaning: 'start' },
  'exit-good': { unicode: '○', ascii: '0', meaning: 'exit 0' },
  'exit-bad': { unicode: '✗', ascii: 'x', meaning: 'exit with an error' },
  success: { unicode: '·', ascii: "'", meaning: 'success' },
  failure: { unicode: '×', ascii: 'f', meaning: 'failure' },
  'verdict-good': { unicode: '▲', ascii: '^', meaning: 'verdict: passing' },
  'verdict-bad': { unicode: '▼', ascii: 'v', meaning: 'verdict: failing' },
  kill: { unicode: '■', ascii: 'k', meaning: 'stop' },
  tick: { unicode: '·', ascii: "'", meaning: 'tick' },
  event: { unicode: '•', ascii: 'e', meaning: 'event' },
  break: { unicode: '┃', ascii: '|', meaning: 'agent started' },
};

export const lookOf = ({ look }: Pick<Mark, 'look'>): Look => ({ ...SPAN_LOOKS, ...INSTANT_LOOKS })[look];

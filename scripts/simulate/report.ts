import type { FailureReport } from '../../src/tools/sim/histories/investigate-failure.js';
import type { SeedReport } from './seed-report.js';

interface FailureText {
  /** The seed or file. */
  readonly what: string;
  readonly failure: FailureReport;
  /** The command that repeats it. */
  readonly repeat: string;
  /** The command that runs the shortest history alone. */
  readonly shortest?: string;
}

export const failureText = ({ what, failure, repeat, shortest }: FailureText): string => {
  const { violation, runs, lines } = failure;
  const about = [violation.uid && `pod ${violation.uid}`, violation.container && `container ${violation.container}`];
  return [
    '',
    `FAILED: ${what} violates ${violation.invariant}`,
    `  ${about.filter(Boolean).join(', ')}${about.some(Boolean) ? ': ' : ''}${violation.message}`,
    `  repeat with: ${repeat}`,
    ...(shortest === undefined ? [] : [`  the shortest of ${runs + 1} histories alone: ${shortest}`]),
    ...lines.map((line) => `  ${line}`),
    '',
  ].join('\n');
};

/** Adds up the results of seeds. */
export class Tally {
  #seeds = 0;
  #failed = 0;
  #podMs = 0;
  #virtualMs = 0;
  #events = 0;
  #calls = 0;
  #lives = 0;

  get seeds(): number {
    return this.#seeds;
  }

  add({ stats, failure }: SeedReport): void {
    this.#seeds += 1;
    if (failure) this.#failed += 1;
    this.#podMs += stats.podMs;
    this.#virtualMs += stats.virtualMs;
    this.#events += stats.events;
    this.#calls += stats.calls;
    this.#lives += stats.lives;
  }

  progress(elapsedMs: number): string {
    return `${(elapsedMs / 1000).toFixed(0)} s: ${this.#seeds} seeds, ${this.#failed} failed, ${this.#rates(elapsedMs)}`;
  }

  total(elapsedMs: number): string {
    const virtualHours = this.#virtualMs / 3_600_000;
    return (
      `${this.#seeds} seeds, ${this.#failed} failed, in ${(elapsedMs / 1000).toFixed(1)} s (${this.#rates(elapsedMs)}): ` +
      `${virtualHours.toFixed(1)} hours of virtual time, ${this.#lives} lives of the agent, ` +
      `${this.#calls} calls, ${this.#events} events`
    );
  }

  #rates(elapsedMs: number): string {
    const seconds = Math.max(elapsedMs, 1) / 1000;
    return `${(this.#seeds / seconds).toFixed(1)} seeds/s, ${(this.#podMs / 3_600_000 / seconds).toFixed(1)} pod-hours/s`;
  }
}

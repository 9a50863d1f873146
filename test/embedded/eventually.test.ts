import { setTimeout as after } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { eventually } from './eventually.js';

/** Looks that see these one after the other, and the last of them from then on. */
const inTurn = <T>(...values: readonly (() => T)[]): { readonly look: () => T; readonly looks: () => number } => {
  let looks = 0;
  return {
    look: () => {
      const value = values[Math.min(looks, values.length - 1)];
      looks += 1;
      if (!value) throw new Error('nothing to look at');
      return value();
    },
    looks: () => looks,
  };
};
const throwing = (message: string) => (): never => {
  throw new Error(message);
};

describe('a wait for an effect', () => {
  it.each([0, '', null, 'there', [] as const])('ends with what a check finds: %j', async (value) => {
    expect(await eventually('it', () => value)).toBe(value);
    expect(await eventually('it', async () => value)).toBe(value);
  });

  it('goes on while a check finds nothing, throws or rejects', async () => {
    const { look, looks } = inTurn<unknown>(
      () => undefined,
      () => false,
      throwing('not yet'),
      () => Promise.reject(new Error('not yet')),
      () => Promise.resolve(undefined),
      () => 'there',
    );
    expect(await eventually('it', look)).toBe('there');
    expect(looks()).toBe(6);
  });

  it('fails with what was waited for and what the last look threw', async () => {
    await expect(eventually('it is there', () => false, 100)).rejects.toThrow(/^not within 0.1 s: it is there$/);
    const failing = eventually('it is there', throwing('ENOENT'), 100);
    await expect(failing).rejects.toThrow(/^not within 0.1 s: it is there: ENOENT$/);
    await expect(failing).rejects.toMatchObject({ cause: new Error('ENOENT') });
    const { look } = inTurn(throwing('at first'), () => undefined);
    await expect(eventually('it is there', look, 100)).rejects.toThrow(/^not within 0.1 s: it is there$/);
  });

  it('looks once more at the deadline, however long the machine has stood still', async () => {
    const standStill = (): void => {
      for (const end = performance.now() + 120; performance.now() < end;);
    };
    const { look, looks } = inTurn<boolean | void>(standStill, () => true);
    expect(await eventually('it', look, 100)).toBe(true);
    expect(looks()).toBe(2);
    const { look: lookInVain, looks: looksInVain } = inTurn<boolean | void>(standStill, () => false);
    await expect(eventually('it', lookInVain, 100)).rejects.toThrow('not within 0.1 s: it');
    expect(looksInVain()).toBe(2);
  });

  it('says what it waits for when a check hangs, and what the check before threw', async () => {
    const hang = (): Promise<never> => new Promise(() => undefined);
    await expect(eventually('the server answers', hang, 100)).rejects.toThrow(
      /^not within 0.1 s: the server answers: the last look hangs$/,
    );
    const { look } = inTurn<unknown>(throwing('ECONNREFUSED'), hang);
    await expect(eventually('the server answers', look, 100)).rejects.toThrow(
      /^not within 0.1 s: the server answers: the last look hangs, the one before: ECONNREFUSED$/,
    );
  });

  it('has no use for the failure of a check that was given up', async () => {
    const failures: unknown[] = [];
    const note = (problem: unknown): number => failures.push(problem);
    process.on('unhandledRejection', note);
    try {
      let fail = (_problem: Error): void => undefined;
      const hanging = new Promise<never>((_, reject) => (fail = reject));
      await expect(eventually('it', () => hanging, 10)).rejects.toThrow('hangs');
      fail(new Error('too late'));
      await after(50);
    } finally {
      process.off('unhandledRejection', note);
    }
    expect(failures).toEqual([]);
  });

  it('looks less often as time goes by', async () => {
    const looks: number[] = [];
    await expect(eventually('it', () => looks.push(performance.now()) > 1_000, 3_000)).rejects.toThrow(
      'not within 3 s',
    );
    const waits = looks.slice(1).map((time, index) => time - (looks[index] ?? 0));
    const [start = 0] = looks;
    const early = looks.filter((time) => time - start <= 1_000).length;
    const late = looks.filter((time) => time - start > 1_000).length;
    // Each wait is at least that long on any machine: 20 ms, then half as long again each time, the last one up to the deadline.
    expect(early).toBeLessThanOrEqual(60);
    expect(late).toBeLessThanOrEqual(12);
    expect(waits.slice(0, -1).every((wait) => wait >= 18)).toBe(true);
  });
});

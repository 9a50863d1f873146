import { defer, finalize, type MonoTypeOperatorFunction, type Observable, tap, throwError } from 'rxjs';

export interface KeyLimits {
  /** The most subscriptions at a time. */
  readonly inAll: number;
  /** The most subscriptions of one key at a time. */
  readonly perKey: number;
  /** Makes the error of a subscription beyond a limit. */
  readonly tooMany: (limit: 'inAll' | 'perKey') => Error;
}

/**
 * Makes an operator whose subscriptions are limited in number, in all and for each key, for any sources. A subscription
 * beyond a limit is not made to wait: it fails, and its source is not subscribed. With `isOver`, a subscription counts no
 * longer after the first value for which it is true.
 *
 * Errors: those of the source; `tooMany(limit)` beyond a limit.
 * Ends:   with the source; the end or an unsubscription makes room.
 */
export const limitByKey = ({
  inAll,
  perKey,
  tooMany,
}: KeyLimits): (<T>(key: string, isOver?: (value: T) => boolean) => MonoTypeOperatorFunction<T>) => {
  const counts = new Map<string, number>();
  let total = 0;
  const add = (key: string, change: 1 | -1): void => {
    total += change;
    const count = (counts.get(key) ?? 0) + change;
    if (count === 0) counts.delete(key);
    else counts.set(key, count);
  };
  return <T>(key: string, isOver = (_: T): boolean => false) =>
    (source: Observable<T>) =>
      defer(() => {
        if ((counts.get(key) ?? 0) >= perKey) return throwError(() => tooMany('perKey'));
        if (total >= inAll) return throwError(() => tooMany('inAll'));
        add(key, 1);
        let isCounted = true;
        const free = (): void => {
          if (isCounted) add(key, -1);
          isCounted = false;
        };
        return source.pipe(
          tap((value) => {
            if (isOver(value)) free();
          }),
          finalize(free),
        );
      });
};

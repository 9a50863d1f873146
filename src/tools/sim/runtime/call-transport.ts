import { Observable, type SchedulerLike } from 'rxjs';
import type { DeepPartial } from '../../../generated/runtime/v1/api.js';
import { callDeadlineMs, type TimedRequest } from '../../../model/cri/call-deadline.js';
import { CriError, errorText } from '../../../model/cri/cri-error.js';
import type { CriCall } from '../../../streams/ports/runtime-service.js';
import type { LatencyRange } from '../world/behaviour.js';
import type { SeededRandom } from '../world/seeded-random.js';

/** The functions by which a call is answered. Only the first answer counts. */
export interface Answer<Response> {
  readonly value: (response: Response) => void;
  readonly error: (error: CriError) => void;
  /** Runs if the caller cancels before the reply. */
  readonly whenGivenUp: (act: () => void) => void;
}

export type Handle<Request, Response> = (request: DeepPartial<Request>, answer: Answer<Response>) => void;

interface TransportOptions {
  readonly scheduler: SchedulerLike;
  readonly random: SeededRandom;
  readonly latencyMs: LatencyRange;
  /** The deadline of a call, see `callDeadlineMs`. */
  readonly requestTimeoutMs: number;
}

/**
 * The way from the agent to the daemon and back. A call takes a little time each way; one that was cancelled before its
 * arrival never happens, and one that has arrived is carried out even if its caller cancels it.
 */
export class CallTransport {
  readonly #open = new Set<(error: CriError) => void>();
  #isUp = true;

  constructor(private readonly options: TransportOptions) {}

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Refuses calls from now on, and breaks pending ones. */
  goDown(): void {
    this.#isUp = false;
    for (const fail of [...this.#open]) fail(new CriError('unavailable', '', 'error reading from server: EOF'));
  }

  comeUp(): void {
    this.#isUp = true;
  }

  /** A call that is answered at once when it arrives. */
  sync<Request extends object, Response>(
    call: string,
    respond: (request: DeepPartial<Request>) => Response,
  ): CriCall<Request, Response> {
    return this.unary<Request, Response>(call, (request, answer) => answer.value(respond(request)));
  }

  /** An error that `handle` throws is the reply. */
  unary<Request extends object, Response>(call: string, handle: Handle<Request, Response>): CriCall<Request, Response> {
    const { scheduler, requestTimeoutMs } = this.options;
    return (request) =>
      new Observable<Response>((subscriber) => {
        const { thereMs, backMs } = this.#ways();
        const deadlineMs = callDeadlineMs(call, request as TimedRequest, requestTimeoutMs);
        let isOver = false;
        let isAnswered = false;
        let givenUp: (() => void) | undefined;

        const end = (deliver: () => void): void => {
          if (isOver) return;
          isOver = true;
          deliver();
        };
        const fail = (error: CriError): void => end(() => subscriber.error(error));
        const broken = ({ code, message }: CriError): void => fail(new CriError(code, call, message));
        const answered = (send: () => void): void => {
          if (isAnswered || isOver) return;
          isAnswered = true;
          this.#open.delete(broken);
          subscriber.add(scheduler.schedule(send, backMs));
        };

        subscriber.add(
          scheduler.schedule(() => {
            if (!this.#isUp) return answered(() => fail(new CriError('unavailable', call, REFUSED)));
            this.#open.add(broken);
            const answer: Answer<Response> = {
              value: (response) =>
                answered(() =>
                  end(() => {
                    subscriber.next(response);
                    subscriber.complete();
                  }),
                ),
              error: (error) => answered(() => fail(error)),
              whenGivenUp: (act) => (givenUp = act),
            };
            try {
              handle(request, answer);
            } catch (error) {
              answer.error(error instanceof CriError ? error : new CriError('unknown', call, errorText(error)));
            }
            // Most calls have their reply by now, and need no timer.
            if (isAnswered || deadlineMs === undefined) return;
            const late = () => {
              if (!isAnswered) fail(new CriError('deadline-exceeded', call, 'context deadline exceeded'));
            };
            subscriber.add(scheduler.schedule(late, deadlineMs - thereMs));
          }, thereMs),
        );
        return () => {
          this.#open.delete(broken);
          isOver = true;
          if (!isAnswered) givenUp?.();
        };
      });
  }

  #ways(): { readonly thereMs: number; readonly backMs: number } {
    const { random, latencyMs } = this.options;
    const both = random.integer(latencyMs.min, latencyMs.max);
    const thereMs = random.integer(0, both);
    return { thereMs, backMs: both - thereMs };
  }
}

const REFUSED =
  'connection error: desc = "transport: Error while dialing: dial unix /run/containerd/containerd.sock: connect: connection refused"';

import type { Finding, Invariant } from './monitor.js';

/** The time after the end of a pod for which a probe of its containers may still be pending. Milliseconds. */
const LAST_ANSWER_MS = 60_000;

export const nothingLeaks: Invariant = {
  name: 'nothing-leaks',
  rule: 'An ended agent has cancelled every call, timer and stream; a running one subscribes once to the events of the runtime, and sends no probe to pods that it has forgotten.',
  source: 'docs/architecture.md',
  watch: (truth) => {
    let killed: { readonly at: number; readonly life: number } | undefined;
    const forgotten = new Map<string, number>();
    return {
      on: (event): readonly Finding[] | undefined => {
        switch (event.kind) {
          case 'agent-started':
            forgotten.clear();
            killed = undefined;
            return undefined;
          case 'agent-killed':
          case 'agent-stopped':
            killed = { at: event.at, life: event.life };
            if (event.actionsLeft === 0) return undefined;
            return [{ message: `the agent left ${event.actionsLeft} timers behind (expected none)` }];
          case 'journal': {
            const { entry } = event;
            if (killed) return [{ message: `a dead agent wrote ${entry.kind} (expected silence)` }];
            const uid = entry.pod?.uid ?? '';
            if (entry.kind === 'forgotten') forgotten.set(uid, event.at);
            else if (entry.kind === 'sync-started') forgotten.delete(uid);
            return undefined;
          }
          case 'call': {
            if (killed) return [{ message: `a dead agent called ${event.call} (expected silence)` }];
            if (event.call !== 'GetContainerEvents') return undefined;
            const listening = [...truth.calls.values()].filter(({ call }) => call === 'GetContainerEvents');
            if (listening.length === 0) return undefined;
            return [{ message: 'the agent has two subscriptions of the events of the runtime (expected one)' }];
          }
          case 'asked': {
            const since = forgotten.get(event.uid);
            if (since === undefined || event.at - since <= LAST_ANSWER_MS) return undefined;
            const { uid, container } = event;
            const message = `was probed by ${event.how} ${event.at - since} ms after its pod was forgotten`;
            return [{ uid, container, message }];
          }
          default: {
            // The cancellations at the agent's end come with it, at the same instant.
            if (!killed || event.at === killed.at || truth.calls.size === 0) return undefined;
            const left = [...new Set([...truth.calls.values()].map(({ call }) => call))];
            killed = undefined;
            return [{ message: `calls of a dead agent go on: ${left.join(', ')} (expected all to be cancelled)` }];
          }
        }
      },
    };
  },
};

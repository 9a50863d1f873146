import type { Finding, Invariant } from './monitor.js';

/** So long after the end of a pod a question to one of its containers may still be under way. Milliseconds. */
const LAST_ANSWER_MS = 60_000;

export const nothingLeaks: Invariant = {
  name: 'nothing-leaks',
  rule: 'An agent that is gone has given up every call, timer and stream; one that goes on listens to the runtime once, and asks nothing of pods that it has forgotten.',
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
            return [{ message: 'the agent listens to the events of the runtime twice (expected once)' }];
          }
          case 'asked': {
            const since = forgotten.get(event.uid);
            if (since === undefined || event.at - since <= LAST_ANSWER_MS) return undefined;
            const { uid, container } = event;
            const message = `was asked by ${event.how} ${event.at - since} ms after its pod was forgotten`;
            return [{ uid, container, message }];
          }
          default: {
            // What the agent gives up when it ends is told with its end, at the same instant.
            if (!killed || event.at === killed.at || truth.calls.size === 0) return undefined;
            const left = [...new Set([...truth.calls.values()].map(({ call }) => call))];
            killed = undefined;
            return [{ message: `calls of a dead agent go on: ${left.join(', ')} (expected all to be given up)` }];
          }
        }
      },
    };
  },
};

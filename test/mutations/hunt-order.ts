import { Worker } from 'node:worker_threads';
import type { HistoryKind } from '../../src/tools/sim/histories/history-kinds.js';
import type { Violation } from '../../src/tools/sim/invariants/monitor.js';

/** What to run. */
export interface HuntOrder {
  /** In their order. */
  readonly seeds: readonly number[];
  /** The family of the seeds. */
  readonly kind: HistoryKind;
}

export interface Hunted {
  /** That were run. */
  readonly seeds: number;
  readonly found?: { readonly seed: number; readonly violation: Violation };
}

/** Runs a bundle of `bundleSimulation` over seeds, in a thread of its own. Errors: the thread ends without a result. */
export const hunt = (bundle: string, order: HuntOrder): Promise<Hunted> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(bundle, { eval: true, workerData: order });
    worker.once('message', (hunted: Hunted) => {
      resolve(hunted);
      void worker.terminate();
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the hunt has ended with ${code} and without a result`)));
  });

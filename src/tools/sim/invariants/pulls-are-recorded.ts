import type { Invariant } from './monitor.js';

export const pullsAreRecorded: Invariant = {
  name: 'pulls-are-recorded',
  rule: 'A pull begins only once its intent is on the disk: after a loss of power no pulled image counts as one that was there before.',
  source: 'pkg/kubelet/images/pullmanager/image_pull_manager.go RecordPullIntent',
  watch: (truth) => {
    const intents = new Set<string>();
    return {
      on: (event) => {
        if (event.kind === 'pull-intent') {
          if (event.isOnDisk) intents.add(event.image);
          else intents.delete(event.image);
        }
        if (event.kind !== 'call' || event.call !== 'PullImage') return undefined;
        const { uid, container, image = '' } = truth.subject(event);
        if (intents.has(image)) return undefined;
        const message = `${image} is pulled without an intent on the disk (expected the write to end first)`;
        return [{ ...(uid !== undefined && { uid }), ...(container !== undefined && { container }), message }];
      },
    };
  },
};

import { COUNTS_OF_FAULTS, type OF_KUBELET } from '../support/dashboard-series.js';
import { samplesIn } from '../support/lint-exposition.js';

/** The series that a text lacks, or has without one of their labels, or only with 0 although they do not count faults. */
export const emptySeries = (text: string, wanted: typeof OF_KUBELET): readonly string[] => {
  const samples = samplesIn(text);
  return wanted.flatMap(([name, ...labels]) =>
    samples.some(
      (sample) =>
        sample.name === name &&
        labels.every((label) => sample.labels[label] !== undefined) &&
        (sample.value > 0 || COUNTS_OF_FAULTS.has(name)),
    )
      ? []
      : [name],
  );
};

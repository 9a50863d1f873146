import { COUNTS_OF_FAULTS, type OF_KUBELET } from '../support/dashboard-series.js';
import { samplesIn } from '../support/lint-exposition.js';

/**
 * What is wrong with the series in a text: there are none of a name, one of them lacks a label or has a blank one, or all are 0
 * although they do not count faults. A panel that groups by a label loses every series without it, so each has to have it.
 */
export const emptySeries = (text: string, wanted: typeof OF_KUBELET): readonly string[] => {
  const samples = samplesIn(text);
  return wanted.flatMap(([name, ...labels]) => {
    const series = samples.filter((sample) => sample.name === name);
    if (series.length === 0) return [`${name}: none`];
    const lacking = labels.filter((label) => series.some((sample) => !sample.labels[label]));
    const counts = series.some(({ value }) => value > 0) || COUNTS_OF_FAULTS.has(name);
    return [...lacking.map((label) => `${name}: without ${label}`), ...(counts ? [] : [`${name}: all 0`])];
  });
};

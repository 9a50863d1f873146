import type { KubeletOptions, KubeletPorts } from '../../../src/kubelet-options.js';
import { kubelet } from '../../../src/kubelet.js';
import { type MakeKubelet, recordKubelet, type RecordOptions } from '../../../src/tools/recording/record-kubelet.js';
import type { RecordingEntry, RecordingHeader } from '../../../src/tools/recording/entries/recording-entry.js';
import type { Recording } from '../../../src/tools/recording/replay.js';

/** A recording as a file would have it: as text, of which every reader gets entries of its own. */
export interface RecordingInMemory extends Recording {
  readonly lines: readonly string[];
  readonly entries: readonly RecordingEntry[];
}

/** Records every agent that it makes. */
export const recordingsInMemory = (
  make: MakeKubelet = kubelet,
  options: Partial<RecordOptions> = {},
): { readonly makeKubelet: MakeKubelet; readonly recordings: () => readonly RecordingInMemory[] } => {
  const lives: string[][] = [];
  return {
    makeKubelet: (ports: KubeletPorts, given: KubeletOptions) => {
      const lines: string[] = [];
      lives.push(lines);
      const write = (entry: RecordingEntry): void => void lines.push(JSON.stringify(entry));
      return recordKubelet(make, ports, given, { by: 'test', write, ...options });
    },
    recordings: () => lives.map(recordingOf),
  };
};

export const recordingOf = (lines: readonly string[]): RecordingInMemory => ({
  lines,
  header: JSON.parse(lines[0]!) as RecordingHeader,
  entries: lines.slice(1).map((line) => JSON.parse(line) as RecordingEntry),
});

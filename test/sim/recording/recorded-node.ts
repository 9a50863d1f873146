import { kubelet, type KubeletOptions } from '../../../src/kubelet.js';
import type { MakeKubelet } from '../../../src/recording/record-kubelet.js';
import { recordKubelet } from '../../../src/recording/record-kubelet.js';
import type { RecordingEntry, RecordingHeader } from '../../../src/recording/recording-entry.js';
import type { Recording } from '../../../src/recording/replay.js';

/** A recording as a file would have it: text, and read from it again. */
export class RecordingInMemory {
  readonly lines: string[] = [];

  readonly makeKubelet: MakeKubelet = (ports, options: KubeletOptions) =>
    recordKubelet(kubelet, ports, options, { by: 'test', write: (entry) => this.lines.push(JSON.stringify(entry)) });

  get entries(): readonly RecordingEntry[] {
    return this.lines.slice(1).map((line) => JSON.parse(line) as RecordingEntry);
  }

  get recording(): Recording {
    return { header: JSON.parse(this.lines[0]!) as RecordingHeader, entries: this.entries };
  }
}

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readJournal } from '../../../src/journal/journal-reader.js';
import { createJournal, type JournalOptions } from '../../../src/journal/journal-writer.js';
import type { Logger } from '../../../src/streams/ports/logger.js';

const child = fileURLToPath(new URL('journal-child.ts', import.meta.url));
const web = { uid: 'u1', namespace: 'default', name: 'web' };

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'journal-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

const recordingLog = () => {
  const lines: string[] = [];
  const note = (level: string) => (_fields: object, message: string) => void lines.push(`${level}: ${message}`);
  const log: Logger = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
  return { log, lines };
};

const journalIn = (path: string, options: Partial<JournalOptions> = {}) =>
  createJournal({ directory: path, runId: 'run', now: () => 1000, log: recordingLog().log, ...options });

describe('journal', () => {
  it('gives back what was recorded, with ids that later entries can name', () => {
    const journal = journalIn(directory);
    const cause = journal.record({ kind: 'config', source: 'file', op: 'ADD', causes: [], pod: web });
    journal.record({ kind: 'sync-started', work: 'sync', trigger: 'config', causes: [cause], pod: web });
    journal.close();

    expect(readJournal(directory)).toEqual({
      unreadable: 0,
      entries: [
        { id: 'run-1', at: 1000, kind: 'config', source: 'file', op: 'ADD', causes: [], pod: web },
        { id: 'run-2', at: 1000, kind: 'sync-started', work: 'sync', trigger: 'config', causes: ['run-1'], pod: web },
      ],
    });
  });

  it('reads the entries of one pod and those about none', () => {
    const journal = journalIn(directory);
    journal.record({ kind: 'agent-started', version: '1', node: 'n', causes: [] });
    journal.record({ kind: 'forgotten', causes: [], pod: web });
    journal.record({ kind: 'forgotten', causes: [], pod: { ...web, name: 'other', uid: 'u2' } });
    journal.close();

    const { entries } = readJournal(directory, ({ name }) => name === 'web');
    expect(entries.map(({ id }) => id)).toEqual(['run-1', 'run-2']);
  });

  it('is empty where no agent ever ran', () => {
    expect(readJournal(join(directory, 'nowhere'))).toEqual({ entries: [], unreadable: 0 });
  });

  it('drops the oldest files and keeps its size bounded', () => {
    const journal = journalIn(directory, { maxBytes: 4096, maxFiles: 3 });
    for (let i = 0; i < 1000; i++) {
      journal.record({ kind: 'housekeeping', finding: `finding ${i}`, causes: [] });
      journal.flush();
    }
    journal.close();

    const files = readdirSync(directory);
    expect(files.sort()).toEqual(['journal.1.jsonl', 'journal.2.jsonl', 'journal.jsonl']);
    for (const file of files) expect(statSync(join(directory, file)).size).toBeLessThanOrEqual(4096);
    const { entries } = readJournal(directory);
    const sequences = entries.map(({ id }) => Number(id.split('-')[1]));
    expect(sequences.at(-1)).toBe(1000);
    expect(sequences).toEqual(sequences.map((_, index) => (sequences[0] ?? 0) + index));
  });

  it('tolerates a torn last line and starts a new one after it', () => {
    const before = journalIn(directory, { runId: 'a' });
    before.record({ kind: 'forgotten', causes: [], pod: web });
    before.close();
    appendFileSync(join(directory, 'journal.jsonl'), '{"id":"a-2","at":10,"ki');
    const after = journalIn(directory, { runId: 'b' });
    after.record({ kind: 'forgotten', causes: [], pod: web });
    after.close();

    const { entries, unreadable } = readJournal(directory);
    expect(entries.map(({ id }) => id)).toEqual(['a-1', 'b-1']);
    expect(unreadable).toBe(1);
  });

  it('writes what cannot be JSON without its details instead of failing', () => {
    const journal = journalIn(directory);
    const event = { kind: 'housekeeping' as const, finding: 'odd', causes: [], of: 10n };
    journal.record(event);
    journal.close();
    expect(readJournal(directory).entries).toEqual([{ id: 'run-1', at: 1000, kind: 'housekeeping', causes: [] }]);
  });

  it('counts what cannot be written, complains once, and resumes', () => {
    const { log, lines } = recordingLog();
    const blocked = join(directory, 'blocked');
    writeFileSync(blocked, 'a file where the directory should be');
    const journal = journalIn(blocked, { log });
    for (let i = 0; i < 3; i++) {
      journal.record({ kind: 'work-due', causes: [], pod: web });
      journal.flush();
    }
    rmSync(blocked);
    journal.record({ kind: 'forgotten', causes: [], pod: web });
    journal.close();

    expect(lines).toEqual([
      'warn: cannot write the journal; entries are dropped until it works',
      'info: writing the journal works again',
    ]);
    expect(readJournal(blocked).entries).toMatchObject([{ kind: 'entries-dropped', count: 3 }, { kind: 'forgotten' }]);
  });

  it.runIf(process.getuid?.() === 0)('survives a full disk and goes on once there is room', () => {
    const disk = join(directory, 'disk');
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
    try {
      const { log, lines } = recordingLog();
      const ballast = join(disk, 'ballast');
      writeFileSync(ballast, Buffer.alloc(40 * 1024));
      const journal = journalIn(disk, { log });
      for (let i = 0; i < 400; i++) {
        journal.record({ kind: 'housekeeping', finding: 'y'.repeat(100), causes: [] });
        journal.flush();
      }
      expect(lines).toEqual(['warn: cannot write the journal; entries are dropped until it works']);
      rmSync(ballast);
      journal.record({ kind: 'forgotten', causes: [], pod: web });
      journal.close();

      const { entries } = readJournal(disk);
      const kept = entries.filter(({ kind }) => kind === 'housekeeping').length;
      const notice = entries.find((entry) => entry.kind === 'entries-dropped');
      expect(notice?.count).toBe(400 - kept);
      expect(entries.at(-1)?.kind).toBe('forgotten');
    } finally {
      execFileSync('umount', [disk]);
    }
  });

  it('stays readable when its writer is killed in the middle of writing', async () => {
    const writer = spawn(process.execPath, ['--import', 'tsx', child, directory, 'killed'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(writer.stdout, 'data');
    writer.kill('SIGKILL');
    await once(writer, 'exit');

    const { entries, unreadable } = readJournal(directory);
    expect(unreadable).toBeLessThanOrEqual(1);
    const sequences = entries.map(({ id }) => Number(id.split('-')[1]));
    expect(sequences.length).toBeGreaterThanOrEqual(100);
    expect(sequences).toEqual(sequences.map((_, index) => (sequences[0] ?? 0) + index));
  });

  it('writes its last entries when the process ends by itself', () => {
    execFileSync(process.execPath, ['--import', 'tsx', child, directory, 'ended', 'once']);
    expect(readFileSync(join(directory, 'journal.jsonl'), 'utf8').trimEnd().split('\n')).toHaveLength(100);
  });
});

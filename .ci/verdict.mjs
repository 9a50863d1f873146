// Reads the lines that `.ci/run` and `.ci/lines-reporter.mjs` have written during a run of the check.
//
//   verdict.mjs check RESULTS NAME passed|failed LOG SECONDS   adds the line of a check
//   verdict.mjs left RESULTS TEXT                      adds what was still there when all was over
//   verdict.mjs find RESULTS NAME REPEAT LOG           adds what fresh seeds have found
//   verdict.mjs again RESULTS STAGE                    prints the files of the stage that deserve another look alone, a line each
//   verdict.mjs end RESULTS [LOGS]                     prints what failed and why, then `N passed, N failed`; exit code 1 unless nothing failed
//
// Kinds of lines: `planned` (a name that must end in a `check` or a `run`), `check` (state, log), `run` (a vitest with its exit code) and those of
// the reporter. Tests of the stage `fresh` have seeds that nobody has seen before; they are reported and do not decide.
import { appendFileSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

/** More tests than these that failed and then passed are no accident. */
export const MOST_FLAKY = 2;
/** With more failed tests than these, none is run again: the run is red whatever they do. */
const MOST_AGAIN = 8;
/** Looks at a file after the first run. A broken promise of the product has to pass all of MOST_LOOKS in a row, anything else once. */
const LOOKS = 2;
const MOST_LOOKS = 3;
/** Whoever sees only the end of the output must see all of it. */
const MOST_LINES = 120;
const LAST_LINES = 12;

/** Names of tests, and messages, about what the agent promises: nothing twice, nothing lost, a replay that does the same. */
const PROMISE =
  /two live containers|two ready sandboxes|had ended and is|violat|doubl|overlap|trespass|without losing|lines? (is|are) lost|difference|left over/i;

/** @typedef {{ file: string, test: string, tries: Map<number, { state: string, error: string[], agentLog: string[] }>, count: number }} Case */

export const parseLines = (text) =>
  text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      // The last line of a process that was killed.
      return [];
    }
  });

const FILE = '(the file as a whole)';
const runsOf = (lines, stage) => lines.filter(({ kind, stage: of }) => kind === 'run' && of === stage);

/** The files that were begun and have not come to their end. */
const unreported = (lines, attempt) => {
  const of = lines.filter((line) => line.try === attempt);
  const ended = new Set(of.filter(({ kind }) => kind === 'file').map(({ file }) => file));
  return of.flatMap(({ kind, file }) => (kind === 'expected' && !ended.has(file) ? [file] : []));
};
const isFileMissing = (lines, attempt) => unreported(lines, attempt).length > 0;
/** Says without a file what the file that never reported says. */
const isOfDeadWorker = (error) => error.join('\n').includes('[vitest-pool');

/** All tests of a stage, and files as tests of their own where something failed that belongs to no test. */
const casesOf = (lines, stage) => {
  /** @type {Map<string, Case>} */
  const cases = new Map();
  const add = (file, test, attempt, state, error, agentLog = []) => {
    const key = `${file}\n${test}`;
    const found = cases.get(key) ?? { file, test, tries: new Map(), count: 0 };
    cases.set(key, found);
    const before = found.tries.get(attempt);
    // Two tests may have the same name: neither hides the other.
    if (before === undefined || before.state === 'passed') found.tries.set(attempt, { state, error, agentLog });
    if (attempt === 1) found.count++;
  };
  const own = lines.filter((line) => line.stage === stage);
  for (const { kind, file, test, state, error, agentLog, try: attempt } of own) {
    if (kind === 'test') add(file, test, attempt, state, error, agentLog);
    if (kind === 'file' && error.length > 0) add(file, FILE, attempt, 'failed', error);
    if (kind === 'unhandled' && !(file === undefined && isOfDeadWorker(error) && isFileMissing(own, attempt))) {
      const after = test ? [`unhandled, after the test "${test}" or during it`] : ['unhandled'];
      add(file ?? 'vitest', FILE, attempt, 'failed', [...error, ...after]);
    }
  }
  for (const attempt of new Set(own.map((line) => line.try))) {
    const of = own.filter((line) => line.try === attempt);
    const tested = new Set(of.filter(({ kind }) => kind === 'test').map(({ file, test }) => `${file}\n${test}`));
    for (const file of unreported(own, attempt)) {
      const begun = of.filter((line) => line.kind === 'begun' && line.file === file);
      const open = begun
        .filter((line) => !tested.has(`${file}\n${line.test}`))
        .map(({ test }) => `had not reported: ${test}`);
      add(file, FILE, attempt, 'failed', ['the file never reported: its process has died or hung', ...open]);
    }
    // A file that failed as a whole and then did not has passed.
    for (const { file } of of.filter(({ kind, file }) => kind === 'file' && cases.has(`${file}\n${FILE}`))) {
      if (!cases.get(`${file}\n${FILE}`)?.tries.has(attempt)) add(file, FILE, attempt, 'passed', []);
    }
  }
  return [...cases.values()];
};

const firstFailure = ({ tries }) => [...tries.values()].find(({ state }) => state !== 'passed');
const isPromise = (testCase) => PROMISE.test([testCase.test, ...(firstFailure(testCase)?.error ?? [])].join('\n'));

/** What a test is after all looks at it. @returns {'passed' | 'flaky' | 'failed'} */
export const outcomeOf = (testCase) => {
  const states = [...testCase.tries].sort(([a], [b]) => a - b).map(([, { state }]) => state);
  if (states.every((state) => state === 'passed')) return 'passed';
  if (!isPromise(testCase)) return states.includes('passed') ? 'flaky' : 'failed';
  const last = states.slice(-MOST_LOOKS);
  return last.length === MOST_LOOKS && last.every((state) => state === 'passed') ? 'flaky' : 'failed';
};

/** Files to be run again, alone. None where more than MOST_AGAIN have failed. */
export const filesToRunAgain = (lines, stage) => {
  const open = casesOf(lines, stage).filter((testCase) => {
    if (outcomeOf(testCase) !== 'failed') return false;
    const states = [...testCase.tries].sort(([a], [b]) => a - b).map(([, { state }]) => state);
    if (!isPromise(testCase)) return states.length <= LOOKS;
    return states.length <= MOST_LOOKS && states.slice(1).every((state) => state === 'passed');
  });
  const files = [...new Set(open.map(({ file }) => file))].filter((file) => file !== 'vitest');
  return open.length > MOST_AGAIN ? [] : files;
};

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
/** Vitest joins the names of suites and test with blanks. */
const patternOf = (test) => test.replaceAll(' > ', ' ').replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const repeatOf = ({ file, test }, { seed, node } = {}) =>
  `${seed ? `FC_SEED=${seed} ` : ''}${node ? `PATH=$(test/support/node.sh ${node}):$PATH ` : ''}npx vitest run ${file}${test === FILE ? '' : ` -t ${quoted(patternOf(test))}`}`;

/**
 * Where the time went, the longest first: each check, and each try of a stage, with the share of the processors that had work. What takes no
 * time is left out.
 */
const timesOf = (lines) =>
  lines
    .flatMap(({ kind, name, stage, try: attempt, seconds, busy }) => {
      if (!(seconds > 0)) return [];
      return [{ name: kind === 'check' ? name : attempt > 1 ? `${stage} again` : stage, seconds, busy }];
    })
    .sort((one, other) => other.seconds - one.seconds)
    .map(({ name, seconds, busy }) => {
      const time = `${name} ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
      return busy === undefined ? time : `${time} (${busy} % busy)`;
    });

/** A verdict: counts, and lines to print under each heading. */
export const verdictOf = (lines) => {
  const stages = [
    ...new Set(lines.flatMap(({ kind, stage }) => (kind === 'run' || kind === 'expected' ? [stage] : []))),
  ];
  const checks = lines.filter(({ kind }) => kind === 'check');
  const failed = [];
  const flaky = [];
  const fresh = [];
  let passed = checks.filter(({ state }) => state === 'passed').length;

  for (const { name, error = [], log } of checks.filter(({ state }) => state === 'failed')) {
    failed.push({ title: `failed: ${name}`, error: log ? [...error, `log: ${log}`] : error });
  }
  for (const stage of stages) {
    const cases = casesOf(lines, stage);
    const run = lines.find((line) => line.kind === 'run' && line.stage === stage);
    for (const testCase of cases) {
      const outcome = outcomeOf(testCase);
      const { error = [], agentLog = [] } = firstFailure(testCase) ?? {};
      const state = firstFailure(testCase)?.state === 'skipped' ? 'skipped' : 'failed';
      const entry = {
        title: `${testCase.file} > ${testCase.test}`,
        error: [...error, `repeat: ${repeatOf(testCase, run)}`],
        agentLog,
      };
      if (stage === 'fresh') {
        if (outcome !== 'passed') fresh.push(entry);
      } else if (outcome === 'failed') {
        const item = { ...entry, title: `${state}: ${entry.title}` };
        if (isPromise(testCase)) failed.unshift(item);
        else failed.push(item);
      } else {
        // A file as a whole is no test.
        if (testCase.test !== FILE) passed += Math.max(1, testCase.count);
        if (outcome === 'flaky') {
          const tries = [...testCase.tries.values()].map(({ state }) => state).join(', ');
          flaky.push({ ...entry, title: `flaked: ${entry.title} (${tries})` });
        }
      }
    }
    if (stage === 'fresh') continue;
    const first = runsOf(lines, stage).find((line) => line.try === 1);
    // Of `timeout` at its limit, and of KILL, whoever has sent it.
    const isEnded = first?.code === 124 || first?.code === 137;
    if (isEnded && first.seconds < first.limit)
      failed.push({ title: `failed: ${stage}: vitest was killed after ${first.seconds} s`, error: [] });
    else if (isEnded) failed.push({ title: `failed: ${stage}: ended after its limit of ${first.limit} s`, error: [] });
    else if (first === undefined) failed.push({ title: `failed: ${stage}: did not come to its end`, error: [] });
    else if (cases.length === 0)
      failed.push({ title: `failed: ${stage}: no test was run (exit code ${first.code})`, error: [] });
    else if (first.code !== 0 && cases.every((testCase) => outcomeOf(testCase) === 'passed')) {
      failed.push({
        title: `failed: ${stage}: vitest ended with exit code ${first.code}, and no test says why`,
        error: [],
      });
    }
  }
  for (const { name, repeat, error } of lines.filter(({ kind }) => kind === 'find')) {
    fresh.push({ title: name, error: [...error, `repeat: ${repeat}`] });
  }
  if (flaky.length > MOST_FLAKY)
    failed.push({ title: `failed: ${flaky.length} flaky tests, more than ${MOST_FLAKY}`, error: [] });

  const done = new Set(
    lines.flatMap(({ kind, stage, name }) => (kind === 'run' ? [stage] : kind === 'check' ? [name] : [])),
  );
  const notRun = lines.filter(({ kind, name }) => kind === 'planned' && !done.has(name)).map(({ name }) => name);
  if (notRun.length > 0 && failed.length === 0)
    failed.push({ title: 'failed: the check did not come to its end', error: [] });
  if (passed === 0 && failed.length === 0) failed.push({ title: 'failed: nothing was run', error: [] });
  const left = lines.filter(({ kind }) => kind === 'left').map(({ error }) => ({ title: 'ended and removed:', error }));
  return { passed, failed, flaky, fresh, left, notRun, times: timesOf(lines) };
};

/** The verdict as lines, so few that the end of a log shows all of them: errors are cut before names, and names before counts. */
export const linesOfVerdict = ({ passed, failed, flaky, fresh, left, notRun, times }, logs) => {
  const sections = [
    ['failed', failed],
    ['flaky', flaky],
    ['found by fresh seeds', fresh],
    ['left over', left],
    ['not run', notRun.map((title) => ({ title, error: [] }))],
  ];
  const render = (mostErrors, mostLogs, mostEntries) =>
    sections.flatMap(([heading, entries]) => {
      if (entries.length === 0) return [];
      const shown = entries.slice(0, mostEntries).flatMap(({ title, error, agentLog = [] }) => {
        const repeat = error.filter((line) => /^(repeat|log): /.test(line));
        const rest = error.filter((line) => !repeat.includes(line) && line.trim() !== '');
        const log = mostLogs === 0 ? [] : agentLog.slice(-mostLogs).map((line) => `agent: ${line}`);
        const kept = mostErrors === 0 ? [] : [...rest.slice(0, mostErrors), ...log, ...repeat];
        return [title, ...kept.map((line) => `    ${line}`)].map((line) => line.replaceAll('\n', ' ').slice(0, 300));
      });
      const more = entries.length - mostEntries;
      return ['', `== ${heading}`, ...shown, ...(more > 0 ? [`and ${more} more`] : [])];
    });
  const spent = times.length > 0 ? ['', `time: ${times.slice(0, 12).join(', ')}`] : [];
  const end = [...spent, ...(logs ? ['', `logs: ${logs}`] : []), '', `${passed} passed, ${failed.length} failed`];
  const choices = [
    [15, 10, 40],
    [8, 4, 40],
    [4, 2, 40],
    [1, 0, 30],
    [0, 0, 25],
  ].map((most) => render(...most));
  const body = choices.find((lines) => lines.length + end.length <= MOST_LINES) ?? choices.at(-1) ?? [];
  return [...body.slice(0, MOST_LINES - end.length), ...end];
};

/** What a command has said last, which is mostly why it failed. */
const lastLinesOf = (log) => {
  try {
    return stripVTControlCharacters(readFileSync(log, 'utf8')).trimEnd().split('\n').slice(-LAST_LINES);
  } catch {
    return [];
  }
};

const main = (command, path, ...extra) => {
  if (command === 'check') {
    const [name, state, log, seconds] = extra;
    const error = state === 'passed' ? [] : lastLinesOf(log);
    appendFileSync(path, `${JSON.stringify({ kind: 'check', name, state, error, log, seconds: Number(seconds) })}\n`);
    return 0;
  }
  if (command === 'find') {
    const [name, repeat, log] = extra;
    appendFileSync(path, `${JSON.stringify({ kind: 'find', name, repeat, error: lastLinesOf(log) })}\n`);
    return 0;
  }
  if (command === 'left') {
    appendFileSync(path, `${JSON.stringify({ kind: 'left', error: extra[0].split('\n') })}\n`);
    return 0;
  }
  const lines = parseLines(readFileSync(path, 'utf8'));
  if (command === 'again') {
    for (const file of filesToRunAgain(lines, extra[0])) console.log(file);
    return 0;
  }
  const verdict = verdictOf(lines);
  console.log(linesOfVerdict(verdict, extra[0]).join('\n'));
  return verdict.failed.length > 0 ? 1 : 0;
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [, , command, path, ...extra] = process.argv;
  process.exitCode = main(command, path, ...extra);
}

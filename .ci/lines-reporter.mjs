// A reporter of vitest: appends a line of JSON to the file $CI_RESULTS as each test begins and ends, so that results survive the end of vitest
// itself. Each line has the `stage` and the `try` of its run, from $CI_STAGE and $CI_TRY. `.ci/verdict.mjs` reads them.
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** Enough of an error: a difference of two objects may have thousands of lines. */
const ERROR_LINES = 15;
const LOG_LINES = 24;

const firstLines = (text) => stripVTControlCharacters(text).split('\n').slice(0, ERROR_LINES);

/** The message of an error, its difference, and its place in a file of the project. */
const linesOf = ({ name, message, diff, stacks, stack }, root) => {
  const place = stacks?.find(({ file }) => !file.includes('node_modules'));
  const at = place
    ? [`at ${relative(root, place.file)}:${place.line}:${place.column}`]
    : (stack?.split('\n').filter((line) => /^\s+at .*(test|src)\//.test(line)) ?? []).slice(0, 1);
  const said = `${name && !message?.startsWith(name) ? `${name}: ` : ''}${message ?? ''}`;
  return [...firstLines(said), ...at.map((line) => line.trim()), ...(diff ? firstLines(diff) : [])];
};

export default class LinesReporter {
  #root = process.cwd();

  onInit(vitest) {
    this.#root = vitest.config.root;
  }

  onTestRunStart(specifications) {
    for (const { moduleId } of specifications) this.#write({ kind: 'expected', file: this.#file(moduleId) });
  }

  onTestCaseReady({ module, fullName }) {
    this.#write({ kind: 'begun', file: this.#file(module.moduleId), test: fullName });
  }

  onTestCaseResult(test) {
    const { state, errors = [] } = test.result();
    const error = errors.flatMap((each) => linesOf(each, this.#root));
    const ms = Math.round(test.diagnostic()?.duration ?? 0);
    // What an agent has logged, where the test has had one.
    const log = state === 'failed' ? stripVTControlCharacters(test.meta().agentLog ?? '').trimEnd() : '';
    const agentLog = log === '' ? undefined : log.split('\n').slice(-LOG_LINES);
    this.#write({
      kind: 'test',
      file: this.#file(test.module.moduleId),
      test: test.fullName,
      state,
      ms,
      error,
      agentLog,
    });
  }

  onTestModuleEnd(module) {
    // Errors of hooks belong to a suite and to no test.
    const suites = [...module.children.allSuites()].flatMap((suite) => suite.errors());
    const error = [...module.errors(), ...suites].flatMap((each) => linesOf(each, this.#root));
    this.#write({ kind: 'file', file: this.#file(module.moduleId), state: module.state(), error });
  }

  onTestRunEnd(_modules, unhandledErrors) {
    for (const error of unhandledErrors) {
      const path = error.VITEST_TEST_PATH;
      this.#write({
        kind: 'unhandled',
        file: path && this.#file(path),
        test: error.VITEST_TEST_NAME,
        error: linesOf(error, this.#root),
      });
    }
  }

  #file(moduleId) {
    return relative(this.#root, moduleId);
  }

  #write(line) {
    const stage = process.env.CI_STAGE ?? '';
    const attempt = Number(process.env.CI_TRY ?? 1);
    appendFileSync(process.env.CI_RESULTS ?? '', `${JSON.stringify({ stage, try: attempt, ...line })}\n`);
  }
}

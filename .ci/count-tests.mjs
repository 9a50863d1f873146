// count-tests.mjs <vitest's JSON report> <vitest's exit code>: prints `<passed> <failed>`, and on standard error what is wrong.
// Failed is also a test that was skipped, a file that could not be loaded, and a run that ended badly for any other reason.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const [, , path, exitCode] = process.argv;

const read = () => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
};

const report = read();
const problems = [];
let passed = 0;
if (!report) problems.push('vitest wrote no report: it ended before its end');
for (const { name, status, message, assertionResults } of report?.testResults ?? []) {
  const file = relative(process.cwd(), name);
  for (const { status, fullName } of assertionResults) {
    if (status === 'passed') passed++;
    else problems.push(`${status}: ${file}: ${fullName}`);
  }
  if (status === 'failed' && assertionResults.every(({ status }) => status === 'passed')) {
    problems.push(`failed: ${file}: ${message || 'the file as a whole'}`);
  }
}
if (report && passed + problems.length === 0) problems.push('there are no tests');
if (exitCode !== '0' && problems.length === 0) problems.push(`vitest ended with exit code ${exitCode}`);

for (const problem of problems) console.error(problem);
console.log(passed, problems.length);

import { expectExamplesToRun } from '../embedded/examples.js';
import { it } from './containerd-node.js';
import { overContainerd } from './missing.js';

overContainerd('the examples', () => {
  it('run as they are, with nothing but the endpoint added', ({ node }) => expectExamplesToRun(node));
});

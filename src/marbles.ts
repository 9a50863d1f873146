// Helpers for tests in virtual time, for a runner of your choice. They need `rxjs/testing` and the assertions of Node.js.

export { inTurn, type MarbleHelpers, marbles } from './tools/marbles/marbles.js';
export {
  expectLanes,
  type Happening,
  type Lanes,
  type LaneScale,
  type LanesExpectation,
  linesOf,
} from './tools/marbles/lanes.js';
